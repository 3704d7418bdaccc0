package service

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// definition returns the task in the format of the Task Scheduler. Its defaults would end the task
// after three days and on batteries. Only the user's own login can start it, because a task for every
// login needs the rights of an administrator.
func (s schtasks) definition(u Unit) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\r\n") }
	line(`<?xml version="1.0" encoding="UTF-16"?>`)
	line(`<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">`)
	line("<RegistrationInfo><Description>scorel " + string(u.Role) + "</Description></RegistrationInfo>")
	line("<Triggers><LogonTrigger><Enabled>true</Enabled><UserId>" + escaped(s.sid) + "</UserId></LogonTrigger></Triggers>")
	line(`<Principals><Principal id="Author"><UserId>` + escaped(s.sid) + "</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>")
	line("<Settings><MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy><DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>" +
		"<StopIfGoingOnBatteries>false</StopIfGoingOnBatteries><ExecutionTimeLimit>PT0S</ExecutionTimeLimit></Settings>")
	line(`<Actions Context="Author"><Exec><Command>` + escaped(u.Program) + "</Command><Arguments>" + escaped(windowsLine(u.Args)) + "</Arguments>")
	if u.Folder != "" {
		line("<WorkingDirectory>" + escaped(u.Folder) + "</WorkingDirectory>")
	}
	line("</Exec></Actions>")
	line("</Task>")
	return b.String()
}

// utf16LE encodes a text as files of Windows have it, with the mark of the byte order in front.
func utf16LE(text string) []byte {
	data := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data
}
