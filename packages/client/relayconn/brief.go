package relayconn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
)

// briefError is an error of the network in the words of its cause.
type briefError struct {
	text  string
	cause error
}

func (e *briefError) Error() string { return e.text }
func (e *briefError) Unwrap() error { return e.cause }

// Brief returns an error of the network that says why a connection failed, without the layers in
// between and their addresses. It keeps the cause.
func Brief(err error) error {
	var (
		name    *net.DNSError
		unknown *tls.CertificateVerificationError
		number  syscall.Errno
		late    net.Error
		request *url.Error
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &name) && name.IsNotFound:
		return &briefError{fmt.Sprintf("there is no %s", name.Name), err}
	case errors.As(err, &name):
		return &briefError{fmt.Sprintf("looking up %s failed", name.Name), err}
	case errors.As(err, &unknown):
		return &briefError{unknown.Err.Error(), err}
	case errors.As(err, &number):
		return &briefError{number.Error(), err}
	case errors.As(err, &late) && late.Timeout():
		return &briefError{"no answer in time", err}
	case errors.As(err, &request):
		return &briefError{request.Err.Error(), err}
	}
	return err
}
