# given NAME...: creates a new fixture for the commands of the reference, and stores its id in the variable NAME.
given() {
  local name
  for name in "$@"; do "given_$name"; done
}

upload() { # ARGUMENTS OF curl...
  data -H "Authorization: Bearer $KEY" -F file=@build.zip -F "hash=$(sha256sum build.zip | cut -d' ' -f1)" "$@" \
    "$API/projects/$PROJECT/builds" | jq -r .build_id
}

given_FUNCTIONS() { # these need not be new
  [ "${PROJECT:-}" != reference ] || return 0
  cp "$BLOCKS/functions.js" index.js
  PROJECT=reference
  deploy "$PROJECT" index.js >/dev/null
}

given_PROJECT() {
  PROJECT=$(api POST /projects "{\"name\": \"p-$RANDOM$RANDOM\"}" | jq -r .project_id)
}

given_ZIP() {
  echo 'export const plain = () => 1; export const add = (a, b) => a + b' >index.js
  rm -f build.zip
  zip -q build.zip index.js
}

given_BUILD_ID() {
  given_ZIP
  BUILD_ID=$(upload)
  api POST "/projects/$PROJECT/builds/$BUILD_ID/deploy"
}

given_DEPLOYED() {
  given_PROJECT
  given_BUILD_ID
  ENV_ID=$(api GET /env | jq -r .env_id)
}

given_LIVE_BUILD() {
  given_ZIP
  upload -F build_type=live
}

given_CANARY() {
  given_PROJECT
  given_BUILD_ID
  echo 'export const plain = () => 2' >index.js
  zip -q build.zip index.js
  api POST "/projects/$PROJECT/builds/$(upload)/deploy" '{"canary": {"share": 0.1}}'
}

given_PREVIEW() {
  given_PROJECT
  given_BUILD_ID
  PREVIEW=pr-$RANDOM$RANDOM # unique in the environment
  curl -X PUT -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d "{\"build_id\": \"$BUILD_ID\"}" \
    "$API/projects/$PROJECT/previews/$PREVIEW"
}

given_VARIABLE() {
  api POST "/projects/$PROJECT/context" '{"key": "STRIPE_KEY", "value": "secret"}'
}

given_SCHEDULE_ID() {
  given_FUNCTIONS
  SCHEDULE_ID=$(api POST /events '{"event_type": "svc:schedule:new", "event_data": {
    "fn": "main/remind", "schedule": "P3D"}}' | jq -r .event_id)
}

given_REPL_ID() {
  REPL_ID=$(api POST /repl '{}' | jq -r .repl_id)
}

given_INVOICE() { echo 'an invoice' >invoice.pdf; }

given_FILE_ID() {
  given_INVOICE
  FILE_ID=$(data -X PUT -H "Authorization: Bearer $KEY" --data-binary @invoice.pdf \
    "$API/files/upload/invoices/$RANDOM$RANDOM.pdf" | jq -r .file_id)
}

given_LINK() {
  given_FUNCTIONS
  local url
  url=$(called main/link | jq -r .)
  FILE_ID=$(cut -d/ -f6 <<<"$url")
  ENV_ID=$(sed 's/.*env_id=\([^&]*\).*/\1/' <<<"$url")
  EXPIRES=$(sed 's/.*expires=\([^&]*\).*/\1/' <<<"$url")
  SIGNATURE=$(sed 's/.*signature=\([^&]*\).*/\1/' <<<"$url")
}

given_UPLOAD_ID() {
  UPLOAD_ID=$(api POST /files/uploads '{"path": "invoices/large.pdf"}' | jq -r .upload_id)
}

given_PART() {
  given_INVOICE
  curl -X PUT -H "Authorization: Bearer $KEY" -H "Content-Type: application/octet-stream" --data-binary @invoice.pdf \
    "$API/files/uploads/$UPLOAD_ID/1"
}

given_EVENT_ID() {
  EVENT_ID=$(api POST /events '{"event_type": "order:created", "event_data": {}}' | jq -r .event_id)
}

given_STREAM_ID() {
  given_EVENT_ID
  STREAM_ID=$(api GET "/events/$EVENT_ID" | jq -r .stream_id)
}

given_RUN_ID() {
  given_FUNCTIONS
  RUN_ID=$(api POST /calls '{"fn": "billing/charge", "args": [{"id": 1}], "wait": 20}' | jq -r .run_id)
}

given_RECORDING() {
  given_FUNCTIONS
  RUN_ID=$(api POST /calls '{"fn": "main/recorded", "args": [1042], "wait": 20}' | jq -r .run_id)
  for _ in $(seq 100); do
    [ "$(api GET "/recordings?fn=main/recorded" | jq "[.[] | select(.run_id == \"$RUN_ID\")] | length")" = 0 ] || return 0
    sleep 0.1
  done
  echo "the run has no recording" >&2
  return 1
}

given_RUNNING() {
  given_FUNCTIONS
  RUN_ID=$(api POST /calls '{"fn": "main/slow"}' | jq -r .run_id)
}

waiting() { # FUNCTION FOR: calls a durable function, and stores its run in RUN_ID when it waits for a `timer` or a `token`
  local event
  given_FUNCTIONS
  event=$(api POST /calls "{\"fn\": \"$1\"}" | jq -r .event_id)
  for _ in $(seq 100); do
    RUN_ID=$(api GET "/events/$event/runs" | jq -r ".[] | select(.waiting.for == \"$2\") | .run_id")
    [ -z "$RUN_ID" ] || return 0
    sleep 0.1
  done
  echo "the run of $1 does not wait for a $2" >&2
  return 1
}

given_SLEEPING() { waiting main/settle timer; }

given_APPROVAL() {
  waiting main/approve token
  TOKEN=$(api GET "/events?event_type=approval:asked&limit=1" | jq -r '.[0].event_data.url | sub(".*/"; "")')
}

given_SESSION_ID() {
  SESSION_ID=$(api POST /sessions '{"permissions": {"run:*": ["read"]}}' | jq -r .session_id)
}

given_ORDERS() { api POST /projects '{"name": "orders"}' >/dev/null 2>&1 || true; } # it may exist

given_PAUSE_ID() {
  given_PROJECT
  PAUSE_ID=$(api POST /pauses "{\"project\": \"$PROJECT\"}" | jq -r .pause_id)
}

given_OPERATION_ID() { # two runs at one per second: it has not ended yet
  local filter='{"status": "succeeded", "fn": "billing/charge"}'
  given_RUN_ID
  OPERATION_ID=$(api POST /operations "{\"kind\": \"replay\", \"filter\": $filter, \"options\": {\"rate\": 1}}" | jq -r .operation_id)
}

given_ALERT_ID() {
  given_PROJECT
  ALERT_ID=$(api POST /alerts "{\"name\": \"quiet\", \"project\": \"$PROJECT\",
    \"condition\": {\"type\": \"silence\", \"minutes\": 60}, \"actions\": [{\"type\": \"event\"}]}" | jq -r .alert_id)
}

given_SERVICE_KEY_ID() {
  SERVICE_KEY_ID=$(api POST /service-keys '{"name": "ci", "permissions": {"run:*": ["read"]}}' | jq -r .service_key_id)
}

given_DOMAIN_ID() {
  DOMAIN_ID=$(api POST /domains "{\"domain\": \"h$RANDOM$RANDOM.example.com\"}" | jq -r .domain_id)
}

admin() { # METHOD PATH [JSON]
  data -X "$1" -H "Authorization: Bearer $ADMIN_TOKEN" -H "Content-Type: application/json" ${3:+-d "$3"} \
    "$ORIGIN/admin$2"
}

given_ORG() {
  ORG=$(admin POST /orgs "{\"slug\": \"o-$RANDOM$RANDOM\", \"name\": \"Acme\"}" | jq -r .slug)
}

given_ENV_ID() {
  given_ORG
  ENV_ID=$(admin POST "/orgs/$ORG/envs" '{"name": "staging"}' | jq -r .env_id)
}

given_API_KEY_ID() {
  API_KEY_ID=$(admin POST "/envs/$ENV_ID/api-keys" '{"name": "ci"}' | jq -r .api_key_id)
}
