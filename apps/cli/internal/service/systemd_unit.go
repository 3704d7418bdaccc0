package service

import "strings"

// unitFile returns the unit of systemd.
func unitFile(u Unit) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line("# Written by `scorel service install`, which replaces it.")
	line("[Unit]")
	line("Description=scorel " + string(u.Role))
	line("StartLimitIntervalSec=0") // a database, for example, may take long to come back
	if u.System {
		line("Wants=network-online.target")
		line("After=network-online.target")
	}
	line("\n[Service]")
	line("Type=notify") // Ready reports
	line("TimeoutStartSec=infinity")
	line("ExecStart=" + execLine(append([]string{u.Program}, u.Args...)))
	line("Restart=on-failure")
	line("RestartSec=5")
	line("RestartPreventExitStatus=2") // an invalid command line or configuration
	line("UMask=0077")
	if u.Folder != "" {
		line("WorkingDirectory=" + strings.ReplaceAll(u.Folder, "%", "%%"))
	}
	if u.Role == Host {
		hostLines(line, u)
	} else {
		relayLines(line, u)
	}
	line("\n[Install]")
	if u.System {
		line("WantedBy=multi-user.target")
	} else {
		line("WantedBy=default.target")
	}
	return b.String()
}

func hostLines(line func(string), u Unit) {
	if u.System {
		line("User=" + u.User)
		line("EnvironmentFile=-/etc/scorel/host.env")
	} else {
		line("EnvironmentFile=-%h/.config/scorel/host.env")
	}
	if u.Path != "" {
		line("Environment=" + quote("PATH="+u.Path))
	}
	line("TimeoutStopSec=40") // the host closes its sessions within 30 s
}

func relayLines(line func(string), u Unit) {
	line(`ExecReload=/bin/sh -c "kill -HUP ${MAINPID}"`) // not every system has kill as a program
	line("TimeoutStopSec=60")                            // more than --drain and 10 s
	line("LimitNOFILE=65536")
	if !u.System {
		line("EnvironmentFile=-%h/.config/scorel/relay.env")
		return
	}
	line("EnvironmentFile=-/etc/scorel/relay.env")
	for _, setting := range hardening {
		line(setting)
	}
}

// hardening is what a relay of the system does without. It may listen on ports below 1024.
var hardening = []string{
	"DynamicUser=yes", "StateDirectory=scorel-relay", "StateDirectoryMode=0700", "LogsDirectory=scorel-relay", "LogsDirectoryMode=0700",
	"NoNewPrivileges=yes", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE", "AmbientCapabilities=CAP_NET_BIND_SERVICE",
	"ProtectSystem=strict", "ProtectHome=yes", "ProtectProc=invisible", "ProtectClock=yes", "ProtectControlGroups=yes", "ProtectHostname=yes",
	"ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes", "PrivateDevices=yes", "PrivateTmp=yes",
	"LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX", "RestrictNamespaces=yes",
	"RestrictRealtime=yes", "RestrictSUIDSGID=yes", "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
}

// execLine quotes a command line: systemd splits words, and expands specifiers and variables.
func execLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
		if i > 0 { // no variable is expanded in the first
			quoted[i] = strings.ReplaceAll(quoted[i], "$", "$$")
		}
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(word) + `"`
}
