package tool

// openNonblock is not needed: pipes are not opened by file paths there.
const openNonblock = 0
