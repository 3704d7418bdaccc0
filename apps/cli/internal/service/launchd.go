package service

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/atomicfile"
)

// launchd runs services as agents of a user and as daemons of the system.
type launchd struct {
	system string // folder of the daemons
	user   string // folder of the user's agents
	uid    int
}

func (launchd) Name() string { return "launchd" }

func label(id ID) string { return "dev.scorel." + string(id.Role) }

func (l launchd) file(id ID) string {
	if id.System {
		return filepath.Join(l.system, label(id)+".plist")
	}
	return filepath.Join(l.user, label(id)+".plist")
}

func (l launchd) domain(id ID) string {
	if id.System {
		return "system"
	}
	return "gui/" + strconv.Itoa(l.uid)
}

// Install implements Manager.
func (l launchd) Install(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	path, domain := l.file(u.ID), l.domain(u.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("creating the folder of the service: %w", err)
	}
	// One of the same name that is loaded is unloaded; the error says that none is.
	_, _ = run(ctx, "launchctl", "bootout", domain+"/"+label(u.ID))
	if err := atomicfile.Write(path, []byte(propertyList(u)), 0o644); err != nil {
		return fmt.Errorf("writing the service: %w", err)
	}
	if _, err := run(ctx, "launchctl", "enable", domain+"/"+label(u.ID)); err != nil {
		return err
	}
	_, err := run(ctx, "launchctl", "bootstrap", domain, path)
	return err
}

// Uninstall implements Manager.
func (l launchd) Uninstall(ctx context.Context, id ID) error {
	path := l.file(id)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ErrNotInstalled
	}
	status, err := l.Status(ctx, id)
	if err != nil {
		return err
	}
	if status.State != "" { // loaded
		if _, err := run(ctx, "launchctl", "bootout", l.domain(id)+"/"+label(id)); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the service: %w", err)
	}
	return nil
}

// Status implements Manager.
func (l launchd) Status(ctx context.Context, id ID) (Status, error) {
	if _, err := os.Stat(l.file(id)); errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	status := Status{Installed: true, File: l.file(id)}
	out, err := run(ctx, "launchctl", "print", l.domain(id)+"/"+label(id))
	if errors.Is(err, ErrUnsupported) {
		return Status{}, err
	}
	if err != nil { // it is not loaded
		return status, nil
	}
	status.Enabled = true
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case name == "state" && status.State == "":
			status.State, status.Running = value, value == "running"
		case name == "pid" && status.PID == 0:
			status.PID, _ = strconv.Atoi(value) // 0 is not known
		}
	}
	return status, nil
}

// propertyList returns the description of a service for launchd.
func propertyList(u Unit) string {
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
`)
	text := func(name, value string) {
		b.WriteString("\t<key>" + name + "</key><string>" + escaped(value) + "</string>\n")
	}
	text("Label", label(u.ID))
	b.WriteString("\t<key>ProgramArguments</key>\n\t<array>\n")
	for _, word := range append([]string{u.Program}, u.Args...) {
		b.WriteString("\t\t<string>" + escaped(word) + "</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>RunAtLoad</key><true/>\n")
	b.WriteString("\t<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n") // again after a failure
	b.WriteString("\t<key>ThrottleInterval</key><integer>10</integer>\n\t<key>Umask</key><integer>63</integer>\n\t<key>ExitTimeOut</key><integer>40</integer>\n")
	if u.Folder != "" {
		text("WorkingDirectory", u.Folder)
	}
	if u.User != "" {
		text("UserName", u.User)
	}
	if u.Path != "" {
		b.WriteString("\t<key>EnvironmentVariables</key><dict><key>PATH</key><string>" + escaped(u.Path) + "</string></dict>\n")
	}
	b.WriteString("</dict>\n</plist>\n")
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // the builder takes everything
	return b.String()
}
