# How real agents are set up and asked without a terminal: sourced by check.sh and cache.sh, which set AGENTS (the folder with
# the installed programs), url (of the stub) and work.
bin() { find -L "$AGENTS" -path "*/node_modules/.bin/$1" 2>/dev/null | head -1; }
before() { # the user's own files, with comments and odd spaces, that must stay as they are
	case $1 in
	claude) mkdir -p $HOME/.claude; printf '{\n    "permissions":   {"allow": ["Bash(ls:*)"]}\n}\n' >$HOME/.claude/settings.json; own=.claude/settings.json ;;
	codex) mkdir -p $HOME/.codex; printf '# mine\nmodel = "stub-1"   # keep\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\nbase_url = "%s/v1"\nwire_api = "responses"\nenv_key = "STUB_KEY"\n\n# trusted\n[projects."%s"]\ntrust_level = "trusted"\n' $url $work/project >$HOME/.codex/config.toml; own=.codex/config.toml ;;
	gemini) mkdir -p $HOME/.gemini; printf '{\n  // mine\n    "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n' >$HOME/.gemini/settings.json; own=.gemini/settings.json ;;
	qwen) mkdir -p $HOME/.qwen; printf '{\n  // mine\n  "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}}, "model": {"name": "stub-1"},\n  "general": {"disableAutoUpdate": true}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "$version": 4\n}\n' >$HOME/.qwen/settings.json; own=.qwen/settings.json ;;
	opencode|kilo) c=$HOME/.config/$1; mkdir -p $c; printf '{\n  // mine\n  "autoupdate": false, "share": "disabled", "model": "s/stub-1",\n  "provider": {"s": {"npm": "@ai-sdk/openai-compatible", "name": "s", "options": {"baseURL": "%s/v1", "apiKey": "k"}, "models": {"stub-1": {"name": "stub", "limit": {"context": 60000, "output": 4000}, "tool_call": true}}}}\n}\n' $url >$c/$1.jsonc; own=.config/$1/$1.jsonc ;;
	pi) mkdir -p $HOME/.pi/agent; printf '{"providers":{"s":{"baseUrl":"%s/v1","api":"openai-completions","apiKey":"k","models":[{"id":"stub-1","name":"stub","reasoning":false,"input":["text"],"contextWindow":60000,"maxTokens":4000,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}' $url >$HOME/.pi/agent/models.json; own=.pi/agent/models.json ;;
	cline) mkdir -p $HOME/.cline/data/settings; printf '{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{"provider":"openai-compatible","apiKey":"k","model":"stub-1","baseUrl":"%s/v1"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}' $url >$HOME/.cline/data/settings/providers.json; own= ;;
	*) own= ;;
	esac
}
say() { # agent new|again prompt
	local again=; [ "$2" = again ] && again=1
	case $1 in
	claude) ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=k DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$(bin claude)" ${again:+--continue} -p "$3" ;;
	codex) STUB_KEY=k "$(bin codex)" exec --skip-git-repo-check --dangerously-bypass-hook-trust ${again:+resume --last} "$3" ;;
	gemini) GOOGLE_GEMINI_BASE_URL=$url GEMINI_API_KEY=k GEMINI_CLI_TRUST_WORKSPACE=true "$(bin gemini)" -m gemini-2.5-flash ${again:+--resume latest} -p "$3" ;;
	qwen) OPENAI_API_KEY=k OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=stub-1 "$(bin qwen)" ${again:+--continue} -p "$3" ;;
	copilot) COPILOT_AUTO_UPDATE=false COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$url/v1 COPILOT_PROVIDER_API_KEY=k COPILOT_MODEL=stub-1 COPILOT_PROVIDER_MAX_PROMPT_TOKENS=60000 "$(bin copilot)" ${again:+--continue} -p "$3" --allow-all-tools ;;
	opencode) "$(bin opencode)" run ${again:+--continue} "$3" ;;
	kilo) "$(find -L "$AGENTS" -path '*@kilocode/cli-linux-x64/bin/kilo' | head -1)" run ${again:+--continue} --auto "$3" ;;
	pi) "$(bin pi)" --provider s --model stub-1 ${again:+--continue} -p "$3" ;;
	cline) HOME=$HOME "$(bin cline)" --json -P openai-compatible -m stub-1 -k k "$3" ;;
	esac
}
