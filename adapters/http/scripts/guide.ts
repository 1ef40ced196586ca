/** The tables of `docs/api.md` that follow from the API: codes, and what endpoints need. */
import { errorStatus, type NeedKey, needs, WeftApi } from "@weft/api"
import { HttpApi } from "effect/http-api"

export const guideFile = new URL("../../../docs/api.md", import.meta.url)

const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  return [line(header), `|${header.map(() => "---|").join("")}`, ...rows.map(line)].join("\n")
}

const reactions: Readonly<Record<keyof typeof errorStatus, string>> = {
  unauthorized: "present a credential that is valid",
  forbidden: "use a credential that has the permission; sessions and service keys are made by API keys only",
  permission_escalation: "ask for no more than the creating key has",
  plan_required: "move to a plan that includes it",
  domain_limit_reached: "remove a domain, or move to another plan",
  not_found: "do not repeat it",
  bad_request: "mend what the message names",
  domain_exists: "use another domain",
  session_limit_exceeded: "revoke sessions, or let some expire",
  rate_limit_exceeded: "wait as long as `Retry-After` says",
  internal_server_error: "repeat it later; the server's log says more"
}

const codes = (): string =>
  table(
    ["Code", "Status", "What to do"],
    Object.entries(errorStatus).flatMap(([code, status]) =>
      isCode(code) ? [[`\`${code}\``, String(status), reactions[code]]] : []
    )
  )

const isCode = (code: string): code is keyof typeof errorStatus => Object.hasOwn(errorStatus, code)

const isNeeded = (key: string): key is NeedKey => Object.hasOwn(needs, key)

const places = {
  project: "the project",
  body: "what the body names",
  resource: "the resource",
  path: "the path",
  stream: "the stream",
  all: "all streams"
} as const

const permissions = (): string => {
  const rows: Array<ReadonlyArray<string>> = []
  HttpApi.reflect(WeftApi, {
    onGroup: () => undefined,
    onEndpoint: ({ group, endpoint }) => {
      const key = `${group.identifier}.${endpoint.identifier}`
      if (!isNeeded(key)) return
      const { type, action, or, also, on, callers } = needs[key]
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

/** The guide with its tables as they are now. */
export const guideWithTables = (text: string): string =>
  Object.entries({ codes, permissions }).reduce(
    (done, [name, make]) =>
      done.replace(
        new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
        (_, start: string, end: string) => `${start}${make()}\n${end}`
      ),
    text
  )
