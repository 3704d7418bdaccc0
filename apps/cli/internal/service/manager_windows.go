package service

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

// Find returns the manager of this system for services of the user, or of the system.
func Find(system bool) (Manager, error) {
	if system {
		return control{}, nil
	}
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("finding the user of this process: %w", err)
	}
	return schtasks{me.Uid}, nil
}

// control is the service control manager. A relay runs there as LocalService, which has few rights;
// a host works with the files of a user, and such a service would not.
type control struct{}

func (control) Name() string { return "Windows services" }

// Install implements Manager.
func (c control) Install(ctx context.Context, u Unit) error {
	if u.Role == Host {
		return fmt.Errorf("a host as a service of the whole system is %w: it works with your files; install it without --system", ErrUnsupported)
	}
	if err := c.Uninstall(ctx, u.ID); err != nil && !errors.Is(err, ErrNotInstalled) {
		return err
	}
	manager, err := mgr.Connect()
	if err != nil {
		return fmt.Errorf("connecting to the service control manager: %w", err)
	}
	defer func() { _ = manager.Disconnect() }()
	service, err := manager.CreateService(u.Name(), u.Program, mgr.Config{
		DisplayName: "scorel " + string(u.Role), StartType: mgr.StartAutomatic, ServiceStartName: `NT AUTHORITY\LocalService`,
	}, u.Args...)
	if err != nil {
		return fmt.Errorf("creating the service: %w", err)
	}
	defer func() { _ = service.Close() }()
	again := []mgr.RecoveryAction{{Type: mgr.ServiceRestart, Delay: 5 * time.Second}}
	// A relay that fails reports its exit code, which Windows does not count as a crash.
	return errors.Join(service.SetRecoveryActions(again, 120), service.SetRecoveryActionsOnNonCrashFailures(true), service.Start())
}

// open returns a service; done releases it.
func (control) open(id ID) (service *mgr.Service, done func(), err error) {
	manager, err := mgr.Connect()
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the service control manager: %w", err)
	}
	service, err = manager.OpenService(id.Name())
	if err != nil {
		_ = manager.Disconnect()
		if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
			err = ErrNotInstalled
		}
		return nil, nil, err
	}
	return service, func() { _ = service.Close(); _ = manager.Disconnect() }, nil
}

// stopPatience bounds the end of a service.
const stopPatience = time.Minute

// Uninstall implements Manager.
func (c control) Uninstall(ctx context.Context, id ID) error {
	service, done, err := c.open(id)
	if err != nil {
		return err
	}
	defer done()
	status, err := service.Control(svc.Stop)
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		status, err = svc.Status{State: svc.Stopped}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for err == nil && status.State != svc.Stopped {
		select {
		case <-time.After(200 * time.Millisecond):
			status, err = service.Query()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("stopping the service: %w", err)
	}
	return service.Delete()
}

// Status implements Manager.
func (c control) Status(_ context.Context, id ID) (Status, error) {
	service, done, err := c.open(id)
	if errors.Is(err, ErrNotInstalled) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, err
	}
	defer done()
	now, err := service.Query()
	if err != nil {
		return Status{}, fmt.Errorf("asking for the state of the service: %w", err)
	}
	config, err := service.Config()
	if err != nil {
		return Status{}, fmt.Errorf("reading the service: %w", err)
	}
	state := "stopped"
	if now.State == svc.Running {
		state = "running"
	}
	return Status{Installed: true, Enabled: config.StartType == mgr.StartAutomatic, Running: now.State == svc.Running, PID: int(now.ProcessId), State: state}, nil
}
