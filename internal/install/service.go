package install

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// Service stands for the service of a person that keeps collecting, where the name of an agent would stand.
const Service = "watch"

// serviceName is what the service is called.
const serviceName = "scrollback-watch"

// launchLabel is what launchd calls it.
const launchLabel = "ai.scrollback.watch"

// servicePath returns the file that describes the service.
func servicePath(p place) string {
	switch p.System {
	case "darwin":
		return p.Join(p.Home, "Library", "LaunchAgents", launchLabel+".plist")
	case "windows":
		return p.Join(p.data, "agents", serviceName+".xml")
	}
	return p.Join(p.ConfigFolder("systemd"), "user", serviceName+".service")
}

// serviceTargets are the file of the service: one that restarts only after a crash, and gives up after five tries.
func serviceTargets(p place, s shape) []target {
	args := []string{"watch", "--service"}
	for _, one := range s.more() {
		text, _ := one.(string)
		args = append(args, text)
	}
	var text string
	switch p.System {
	case "darwin":
		text = launchdService(s.program, args)
	case "windows":
		text = taskService(s.program, args)
	default:
		text = systemdService(s.program, args)
	}
	return []target{file(servicePath(p), []byte(text))}
}

func systemdService(program string, args []string) string {
	words := []string{quoteSystemd(program)}
	for _, a := range args {
		words = append(words, quoteSystemd(a))
	}
	return `# Written by "scrollback install --watch"; "scrollback uninstall" deletes it.
[Unit]
Description=scrollback: keeps what coding agents say
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
ExecStart=` + strings.Join(words, " ") + `
Restart=on-failure
RestartSec=10
Nice=10

[Install]
WantedBy=default.target
`
}

// quoteSystemd returns a word of a command line of systemd.
func quoteSystemd(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(word) + `"`
}

func launchdService(program string, args []string) string {
	words := "    <string>" + escapeXML(program) + "</string>\n"
	for _, a := range args {
		words += "    <string>" + escapeXML(a) + "</string>\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!-- "scrollback uninstall" deletes it -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>` + launchLabel + `</string>
  <key>ProgramArguments</key>
  <array>
` + words + `  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`
}

func taskService(program string, args []string) string {
	var words []string
	for _, a := range args {
		if strings.ContainsAny(a, " \t") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>scrollback: keeps what coding agents say</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>` + escapeXML(filepath.FromSlash(program)) + `</Command>
      <Arguments>` + escapeXML(strings.Join(words, " ")) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

func escapeXML(text string) string {
	var out bytes.Buffer
	if xml.EscapeText(&out, []byte(text)) != nil {
		return "" // a buffer takes everything
	}
	return out.String()
}

// Commands tell the system of the service of a person, each with its arguments.
type Commands struct {
	Start [][]string // after its file was written
	Again [][]string // its file is as it was: it is to run, if it does not
	End   [][]string // before its file goes
}

// ServiceCommands returns the commands of the service of a person with an id.
func ServiceCommands(m agents.Machine, data, id string) Commands {
	path := servicePath(place{Machine: m, data: data})
	switch m.System {
	case "darwin":
		end := [][]string{{"launchctl", "bootout", "gui/" + id + "/" + launchLabel}}
		start := [][]string{{"launchctl", "bootstrap", "gui/" + id, path}}
		again := [][]string{{"launchctl", "kickstart", "gui/" + id + "/" + launchLabel}}
		return Commands{Start: start, Again: again, End: end}
	case "windows":
		run := []string{"schtasks", "/Run", "/TN", serviceName}
		return Commands{Start: [][]string{{"schtasks", "/Create", "/F", "/TN", serviceName, "/XML", path}, run},
			Again: [][]string{run},
			End: [][]string{{"schtasks", "/End", "/TN", serviceName},
				{"schtasks", "/Delete", "/F", "/TN", serviceName}}}
	}
	systemctl := func(words ...string) []string {
		return append(append([]string{"systemctl", "--user"}, words...), serviceName)
	}
	return Commands{
		Start: [][]string{{"systemctl", "--user", "daemon-reload"}, systemctl("enable"), systemctl("restart")},
		Again: [][]string{systemctl("enable", "--now")}, End: [][]string{systemctl("disable", "--now")}}
}
