package extension

// nonBlocking is not needed on Windows, where no file is a pipe.
const nonBlocking = 0
