"""Forward paths: several ways to run the same decoder over a tree's rows, one seam."""
