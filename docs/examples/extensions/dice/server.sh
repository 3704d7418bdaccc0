#!/usr/bin/env bash
# An MCP server with one tool, roll. Each line of the input is a JSON-RPC message.
while IFS= read -r message; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$message")
  case $message in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"dice","version":"1.0.0"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"roll","description":"Rolls one die.","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"The die shows '$((RANDOM % DICE_SIDES + 1))'."}]}' ;;
    *) result='{}' ;;
  esac
  [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
