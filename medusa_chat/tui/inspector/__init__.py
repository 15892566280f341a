"""The inspector: any step of any answer, its candidate tree, why each guess stood or fell, and what if."""
