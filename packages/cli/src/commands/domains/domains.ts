/** `weft domains`: custom host names for webhooks. */
import type { Domain } from "@weft/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { type Column, fieldLines } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const columns: ReadonlyArray<Column<Domain>> = [
  { title: "DOMAIN", of: (domain) => domain.domain },
  { title: "STATUS", of: (domain) => domain.status },
  { title: "REGISTERED", of: (domain) => localTime(domain.created_at), isExtra: true },
  { title: "ID", of: (domain) => domain.domain_id, isExtra: true }
]

const named = Argument.String("domain").pipe(Argument.withDescription("The domain's name or id"))

/** Finds a domain by name or id. */
const find = Effect.fnUntraced(function* (nameOrId: string) {
  const api = yield* Api
  const { items } = yield* api.request((weft, options) =>
    loadPages({ limit: 0, all: true }, (page) => weft.domains.list(page, options))
  )
  const found = items.find((one) => one.domain === nameOrId.toLowerCase() || one.domain_id === nameOrId)
  return found ?? (yield* failure("not_found", `There is no domain ${nameOrId}`, "see `weft domains list`"))
})

/** Formats a domain with the next step for its owner. */
const domainText = (domain: Domain): string =>
  [
    ...fieldLines([
      ["domain", domain.domain],
      ["status", domain.status],
      ["id", domain.domain_id]
    ]),
    "",
    ...(domain.routing_domain === null
      ? ["Add this DNS record and keep it, then run: weft domains verify", record(domain)]
      : ["Add this DNS record to route requests to the server:", `  ${domain.domain} CNAME ${domain.routing_domain}`])
  ].join("\n")

const record = ({ validation_cname_name, validation_cname_value }: Domain): string =>
  `  ${validation_cname_name} CNAME ${validation_cname_value}`

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const domains = yield* api.request((weft, options) => loadPages(range, (page) => weft.domains.list(page, options)))
    yield* printTable(columns, domains, "There are no domains")
  })
).pipe(
  Command.withDescription("List the domains of the environment"),
  Command.withExamples([{ command: "weft domains list" }])
)

const add = Command.make(
  "add",
  { domain: Argument.String("domain").pipe(Argument.withDescription("Host name, such as hooks.example.com")) },
  Effect.fnUntraced(function* ({ domain: name }) {
    const api = yield* Api
    const output = yield* Output
    const domain = yield* api.request((weft, options) => weft.domains.add({ domain: name }, options))
    yield* output.print(domain, () => domainText(domain))
  })
).pipe(
  Command.withDescription("Register a domain and show the DNS record that proves its ownership"),
  Command.withExamples([{ command: "weft domains add hooks.example.com" }])
)

const get = Command.make(
  "get",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: nameOrId }) {
    const output = yield* Output
    const domain = yield* find(nameOrId)
    yield* output.print(domain, () => domainText(domain))
  })
).pipe(
  Command.withDescription("Show a domain and the next DNS record to add"),
  Command.withExamples([{ command: "weft domains get hooks.example.com" }])
)

const verify = Command.make(
  "verify",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: nameOrId }) {
    const api = yield* Api
    const output = yield* Output
    const { domain_id } = yield* find(nameOrId)
    yield* output.status("Checking the DNS…")
    const result = yield* api
      .request((weft, options) => weft.domains.verify(domain_id, options))
      .pipe(Effect.ensuring(output.status(null)))
    yield* output.print(result, () => `${result.domain} is ${result.status}: ${printable(result.message)}`)
  })
).pipe(
  Command.withDescription("Check the DNS record now"),
  Command.withExamples([{ command: "weft domains verify hooks.example.com" }])
)

const remove = Command.make(
  "remove",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: nameOrId }) {
    const api = yield* Api
    const output = yield* Output
    const { domain_id, domain } = yield* find(nameOrId)
    yield* api.request((weft, options) => weft.domains.remove(domain_id, options))
    yield* output.print({ removed: domain_id }, () => `Removed ${domain}; its requests are no longer routed`)
  })
).pipe(
  Command.withDescription("Remove a domain"),
  Command.withExamples([{ command: "weft domains remove hooks.example.com" }])
)

export const domains = Command.make("domains").pipe(
  Command.withDescription("Custom host names for webhooks"),
  Command.withSubcommands([list, add, get, verify, remove])
)
