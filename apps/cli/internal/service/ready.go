package service

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// readySocket is the variable in which systemd names the socket that it reads messages from.
const readySocket = "NOTIFY_SOCKET"

// Ready reports to systemd that the service in this process is ready, and removes the address of
// systemd from the environment of later commands. In a process that systemd has not started it
// does nothing.
func Ready() error {
	address := os.Getenv(readySocket)
	if address == "" {
		return nil
	}
	if err := os.Unsetenv(readySocket); err != nil {
		return fmt.Errorf("removing %s from the environment: %w", readySocket, err)
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("reporting to systemd that the service is ready: %w", err)
	}
	_, err = conn.Write([]byte("READY=1"))
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("reporting to systemd that the service is ready: %w", err)
	}
	return nil
}
