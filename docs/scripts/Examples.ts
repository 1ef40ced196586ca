/** A command for every endpoint that works as it stands, and what has to be there before. */
import type { Endpoint } from "./OpenApi.ts"

interface Example {
  /** Fixtures that the tests create first: names for `given` in `test/blocks/given.sh`. */
  readonly given: ReadonlyArray<string>
  readonly command: string
}

/** Deviations from the examples of the document, by operation. */
interface Particulars {
  readonly given?: ReadonlyArray<string>
  /** The path and query, where the document's parameters do not say what the tests have made. */
  readonly path?: string
  readonly body?: unknown
  /** Instead of a JSON body. */
  readonly with?: string
}

const hello = "/webhook/default/production/greeter/hello"
const zip = "-F file=@build.zip -F hash=$(sha256sum build.zip | cut -d' ' -f1)"
const bytes = (type: string): string => `-H "Content-Type: ${type}" --data-binary @invoice.pdf`

const particulars: Readonly<Record<string, Particulars>> = {
  projectsCreate: { body: { name: "orders" } },
  projectsUpdate: { body: { name: "sales" } },
  buildsUpload: { given: ["PROJECT", "ZIP"], with: zip },
  buildsLive: { given: ["PROJECT", "LIVE_BUILD"] },
  buildsEndLive: { given: ["PROJECT", "LIVE_BUILD"] },
  replComplete: { body: { source: "svc.ev", cursor: 6 } },
  replInput: { body: { source: "const total = 1 + 2; total" } },
  replOpen: { body: {} },
  evalRun: { body: { source: "args[0] * 2", args: [21] } },
  adminReleaseBuild: { given: ["DEPLOYED"] },
  buildsDeployed: { given: ["PROJECT", "BUILD_ID"] },
  buildsDeploy: { with: "" },
  canariesGet: { given: ["CANARY"] },
  canariesPromote: { given: ["CANARY"] },
  canariesRollback: { given: ["CANARY"] },
  previewsList: { given: ["PREVIEW"] },
  previewsGet: { given: ["PREVIEW"] },
  previewsDeploy: {
    given: ["PROJECT", "BUILD_ID"],
    // Other pages use pr-42, and names are unique in an environment.
    path: "/v1/projects/$PROJECT/previews/pr-7",
    with: `-H "Content-Type: application/json" \\\n  -d "{\\"build_id\\": \\"$BUILD_ID\\", \\"ttl\\": \\"2d\\"}"`
  },
  previewsExtend: { given: ["PREVIEW"] },
  previewsRemove: { given: ["PREVIEW"] },
  buildsDownload: { with: "-o build.zip" },
  contextUpdate: { given: ["PROJECT", "VARIABLE"] },
  contextRemove: { given: ["PROJECT", "VARIABLE"] },
  filesUpload: { given: ["INVOICE"], with: bytes("application/pdf") },
  filesPutPart: { given: ["UPLOAD_ID", "INVOICE"], with: bytes("application/octet-stream") },
  filesComplete: { given: ["UPLOAD_ID", "PART"] },
  filesDownload: { with: "-o invoice.pdf" },
  linksOpen: {
    given: ["LINK"],
    path: "/v1/files/$FILE_ID/content?env_id=$ENV_ID&expires=$EXPIRES&signature=$SIGNATURE",
    with: "-o invoice.pdf"
  },
  eventsPublish: { body: { event_type: "order:created", event_data: { order: 1042, total: 21 } } },
  streamsSubscribeWithEvent: { body: { event_type: "order:created", event_data: { order: 1042, total: 21 } } },
  deadLettersList: { path: "/v1/dead-letters?fn=main/onOrder&since=2026-01-31T00:00:00Z" },
  deadLettersRedrive: { body: { fn: "main/onOrder", build: "deployed", dry_run: true } },
  deadLettersDiscard: { body: { event_type: "order:created", until: "2026-01-31T00:00:00Z" } },
  operationsCreate: {
    body: { kind: "replay", filter: { status: "failed", time_range: "PT1H" }, options: { build: "deployed", rate: 50 } }
  },
  pausesCreate: { given: ["ORDERS"], body: { project: "orders", schedules: "skip" } },
  alertsCreate: {
    given: ["ORDERS"],
    body: {
      ...{ name: "orders fail", project: "orders", for_minutes: 5 },
      condition: { type: "failure_share", share: 0.1, min_runs: 20, window_minutes: 5 },
      actions: [{ type: "event" }]
    }
  },
  alertsUpdate: { body: { enabled: false } },
  recordingsList: { path: "/v1/recordings?fn=main/recorded&time_range=P7D" },
  recordingsGet: { given: ["RECORDING"] },
  runsCancel: { given: ["SLEEPING"] },
  runsReplay: { body: { event_data: { fn: "billing/charge", args: [{ id: 2 }] } } },
  runsSteps: { given: ["SLEEPING"] },
  runsWake: { given: ["SLEEPING"] },
  runsCompleteToken: { given: ["APPROVAL"] },
  tokenGet: { given: ["APPROVAL"], path: "/tokens/$TOKEN" },
  tokenPost: { given: ["APPROVAL"], path: "/tokens/$TOKEN" },
  runsCancelAll: { path: "/v1/runs/cancel?type=call&time_range=PT1H" },

  runsList: { path: "/v1/runs?status=failed&time_range=P7D" },
  runsSeries: { path: "/v1/runs/series?step=5m" },
  callsCall: { given: ["FUNCTIONS"], body: { fn: "billing/charge", args: [{ id: 17 }], wait: 20 } },
  auditList: { path: "/v1/audit?outcome=refused&time_range=P7D" },
  adminListAudit: { path: "/admin/audit?action=org.create" },
  domainsAdd: { body: { domain: "hooks.example.com" } },
  webhookGet: { given: ["FUNCTIONS"], path: hello },
  webhookPut: { given: ["FUNCTIONS"], path: hello, body: { name: "Ada" } },
  webhookPatch: { given: ["FUNCTIONS"], path: hello, body: { name: "Ada" } },
  webhookDelete: { given: ["FUNCTIONS"], path: hello },
  webhookPost: { given: ["FUNCTIONS"], path: hello, body: { name: "Ada" } },
  mcpPost: {
    given: ["FUNCTIONS"],
    path: "/mcp/default/production/crm",
    with: `-H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \\\n  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'`
  }
}

/** Parameters of paths by the variables that hold the reader's own ids. */
const variables: Readonly<Record<string, string>> = {
  project_id_or_slug: "PROJECT",
  build_id: "BUILD_ID",
  preview: "PREVIEW",
  schedule_id: "SCHEDULE_ID",
  file_id: "FILE_ID",
  upload_id: "UPLOAD_ID",
  event_id: "EVENT_ID",
  run_id: "RUN_ID",
  waiting_id: "RUN_ID",
  pause_id: "PAUSE_ID",
  operation_id: "OPERATION_ID",
  alert_id: "ALERT_ID",
  stream_id: "STREAM_ID",
  repl_id: "REPL_ID",
  session_id: "SESSION_ID",
  service_key_id: "SERVICE_KEY_ID",
  domain_id: "DOMAIN_ID",
  env_id: "ENV_ID",
  api_key_id: "API_KEY_ID",
  org: "ORG"
}

const written = (path: string, endpoint: Endpoint): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const variable = variables[name]
    const { example } = endpoint.operation.parameters?.find((parameter) => parameter.name === name) ?? {}
    return variable === undefined ? String(example) : `$${variable}`
  })

/** The credential that an endpoint asks for, as a header. */
const credential = ({ operation, path }: Endpoint): string => {
  const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme))
  if (schemes.includes("adminBearer")) return `-H "Authorization: Bearer $ADMIN_TOKEN"`
  return schemes.includes("bearer") && !path.startsWith("/webhook/") ? `-H "Authorization: Bearer $KEY"` : ""
}

const bodyOf = ({ operation }: Endpoint, { body, with: instead }: Particulars): string => {
  if (instead !== undefined) return instead
  const media = operation.requestBody?.content["application/json"]
  const example = media?.example ?? Object.values(media?.examples ?? {})[0]?.value
  const sent = body ?? example
  return sent === undefined ? "" : `-H "Content-Type: application/json" \\\n  -d '${JSON.stringify(sent)}'`
}

/** Maximum width of a line without horizontal scrolling, in characters. */
const lineMax = 76

export const exampleOf = (endpoint: Endpoint): Example => {
  const { method, path, operation } = endpoint
  const own = particulars[operation.operationId] ?? {}
  const given = own.given ?? [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = ""]) => variables[name] ?? [])
  const whole = written(own.path ?? path, endpoint)
  const address = whole.startsWith("/v1/") ? `$API${whole.slice(3)}` : `http://127.0.0.1:8787${whole}`
  const url = /[?&]/.test(address) ? `"${address}"` : address
  const verb = method === "GET" ? "" : ` -X ${method}`
  const isStream = Object.values(operation.responses).some(({ content }) => content?.["text/event-stream"])
  const body = bodyOf(endpoint, own)
  const parts = [`curl${isStream ? " -N" : ""}${verb} ${url}`, credential(endpoint), body].filter((part) => part !== "")
  return { given, command: parts.join(" ").length <= lineMax ? parts.join(" ") : parts.join(" \\\n  ") }
}
