/** The generated tables of `docs/api.md`: error codes, and permissions of endpoints. */
import { errorStatus, permissionOf, WeftApi } from "@weft/api"
import { HttpApi } from "effect/http-api"

export const guideFile = new URL("../../../docs/api.md", import.meta.url)

const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  return [line(header), `|${header.map(() => "---|").join("")}`, ...rows.map(line)].join("\n")
}

const reactions: Readonly<Record<keyof typeof errorStatus, string>> = {
  unauthorized: "present a credential that is valid",
  forbidden: "use a credential that has the permission; only API keys can create sessions and service keys",
  permission_escalation: "request no more permissions than the creating key has",
  plan_required: "upgrade to a plan that includes it",
  domain_limit_reached: "remove a domain, or upgrade the plan",
  not_found: "do not retry",
  bad_request: "correct the field that the message names",
  domain_exists: "use another domain",
  token_completed: "do not retry; the first completion counts",
  busy: "wait for the earlier request, then send it again",
  token_expired: "do not retry",
  session_limit_exceeded: "revoke sessions, or let some expire",
  rate_limit_exceeded: "wait for the seconds in `Retry-After`",
  deployment_refused: "change the build, or ask the operator of the host",
  canary_active: "promote the canary, roll it back, or send `replace`",
  paused: "send it again when the function is resumed",
  internal_server_error: "retry later; the server's log has the details"
}

const codes = (): string =>
  table(
    ["Code", "Status", "Remedy"],
    Object.entries(errorStatus).flatMap(([code, status]) =>
      isCode(code) ? [[`\`${code}\``, String(status), reactions[code]]] : []
    )
  )

const isCode = (code: string): code is keyof typeof errorStatus => Object.hasOwn(errorStatus, code)

const places = {
  project: "the project",
  body: "the resource in the body",
  resource: "the resource",
  path: "the path",
  stream: "the stream",
  all: "all streams"
} as const

const permissions = (): string => {
  const rows: Array<ReadonlyArray<string>> = []
  HttpApi.reflect(WeftApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const permission = permissionOf(endpoint)
      if (permission === null) return
      const { type, action, or, also, on, callers } = permission
      const route = `${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")}`
      const actions = or === undefined ? action : `${action} or ${or}`
      const besides = also === undefined ? "" : `, ${also.type}: ${also.action}`
      rows.push([
        `\`${route}\``,
        `${type}: ${actions}${besides}`,
        `${places[on]}${callers === undefined ? "" : "; API keys only"}`
      ])
    }
  })
  return table(["Endpoint", "Permission", "On"], rows)
}

/** Returns the guide with its current tables. */
export const guideWithTables = (text: string): string =>
  Object.entries({ codes, permissions }).reduce(
    (done, [name, make]) =>
      done.replace(
        new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
        (_, start: string, end: string) => `${start}${make()}\n${end}`
      ),
    text
  )
