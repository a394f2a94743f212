"""The routes of the HTTP door, a router an area; each says which roles it admits."""
