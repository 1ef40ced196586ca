# Environment of a page's commands: a strict shell, $API and $KEY of a server, `weft`, and helpers for hidden blocks.
set -euo pipefail

# Records the current page and line.
at() { BLOCK=$1; }
trap 'status=$?; [ $status = 0 ] || printf "\n%s: ended with %s\n" "$BLOCK" $status >&2' EXIT

# An error response fails the page. A stream (-N) ends after one second.
curl() {
  local args=" $* " status=0
  if [[ $args == *" -N "* ]]; then
    command curl --silent --show-error --fail-with-body --max-time 1 "$@" || status=$?
    [ $status = 28 ] || return $status
  else
    command curl --silent --show-error --fail-with-body --max-time 60 "$@"
  fi
}

# The command line, as an installed one.
weft() { node "$COMMAND_LINE" "$@"; }
npx() { if [ "$1" = weft ]; then weft "${@:2}"; else command npx "$@"; fi; }

# data ARGUMENTS OF curl...: prints `data` of the response, or the error to stderr.
data() {
  local answer status=0
  answer=$(curl "$@") || status=$?
  [ $status = 0 ] || { echo "$answer" >&2; return $status; }
  jq .data <<<"$answer"
}

# api METHOD PATH [JSON]: a request of the API.
api() {
  data -X "$1" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" ${3:+-d "$3"} "$API$2"
}

# deploy PROJECT FILE...: creates the project if it does not exist, and deploys a build of the files.
deploy() {
  local project=$1 build
  shift
  command curl -s -o /dev/null -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \
    -d "{\"name\": \"$project\"}" "$API/projects"
  rm -f "$WORK/$project.zip"
  zip -q "$WORK/$project.zip" "$@"
  build=$(data -H "Authorization: Bearer $KEY" -F "file=@$WORK/$project.zip" \
    -F "hash=$(sha256sum "$WORK/$project.zip" | cut -d' ' -f1)" "$API/projects/$project/builds" | jq -r .build_id)
  api POST "/projects/$project/builds/$build/deploy" >/dev/null
  echo "$build"
}

# called FN [ARGS]: calls a function, waits for its end, and fails unless it succeeds.
called() {
  api POST /calls "{\"fn\": \"$1\", \"args\": ${2:-[]}, \"wait\": 20}" | jq '
    if .status == "succeeded" then .result else error(.result | tostring) end'
}

# handled TYPE DATA: publishes an event and waits until its runs have ended; fails unless all succeeded.
handled() {
  local event runs
  event=$(api POST /events "{\"event_type\": \"$1\", \"event_data\": $2}" | jq -r .event_id)
  for _ in $(seq 200); do
    runs=$(api GET "/events/$event/runs")
    if jq -e 'length > 0 and all(.status != "running")' <<<"$runs" >/dev/null; then
      jq -e 'if all(.status == "succeeded") then . else error(tostring) end' <<<"$runs"
      return
    fi
    sleep 0.1
  done
  echo "No run of $1 ended" >&2
  return 1
}

. "$BLOCKS/given.sh"
