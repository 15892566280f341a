"""Charts as SVG, without a library: few shapes, small files, readable on light and dark pages."""
