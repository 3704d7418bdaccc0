package tool

// openNonblock is not needed on Windows, where pipes are not opened by file paths.
const openNonblock = 0
