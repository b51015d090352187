"""The roles that come with this program, a file each."""
