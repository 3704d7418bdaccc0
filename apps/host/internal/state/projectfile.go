package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadProjectFile returns the content of a file that comes with a project, or nil if there is
// none. A project may be hostile: what is no file, is larger than most bytes, or turns out to
// be although its size says otherwise, such as a link to a file of /proc, is an error for
// people.
func ReadProjectFile(name string, most int64) (data []byte, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(file, most+1)); err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("it is larger than the limit of %d KiB", most>>10)
	}
	return data, nil
}
