/** `weft domains`: host names of one's own for webhooks. */
import type { Domain } from "@weft/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { type Column, fieldLines } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"

const columns: ReadonlyArray<Column<Domain>> = [
  { title: "DOMAIN", of: (domain) => domain.domain },
  { title: "STATUS", of: (domain) => domain.status },
  { title: "REGISTERED", of: (domain) => localTime(domain.created_at), isExtra: true },
  { title: "ID", of: (domain) => domain.domain_id, isExtra: true }
]

const named = Argument.String("domain").pipe(Argument.withDescription("Its name, or its id"))

/** By name or id. */
const find = Effect.fnUntraced(function* (asked: string) {
  const api = yield* Api
  const { items } = yield* api.ask((weft, asking) =>
    listed({ limit: 0, all: true }, (page) => weft.domains.list(page, asking))
  )
  const found = items.find((one) => one.domain === asked.toLowerCase() || one.domain_id === asked)
  return found ?? (yield* failure("not_found", `There is no domain ${asked}`, "see `weft domains list`"))
})

/** What it is, and what its owner has to do next. */
const domainText = (domain: Domain): string =>
  [
    ...fieldLines([
      ["domain", domain.domain],
      ["status", domain.status],
      ["id", domain.domain_id]
    ]),
    "",
    ...(domain.routing_domain === null
      ? ["Add this record, and leave it there; then: weft domains verify", record(domain)]
      : ["Add this record, so that requests come:", `  ${domain.domain} CNAME ${domain.routing_domain}`])
  ].join("\n")

const record = ({ validation_cname_name, validation_cname_value }: Domain): string =>
  `  ${validation_cname_name} CNAME ${validation_cname_value}`

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (wanted) {
    const api = yield* Api
    const domains = yield* api.ask((weft, asking) => listed(wanted, (page) => weft.domains.list(page, asking)))
    yield* printTable(columns, domains, "There are no domains")
  })
).pipe(
  Command.withDescription("List the domains of the environment"),
  Command.withExamples([{ command: "weft domains list" }])
)

const add = Command.make(
  "add",
  { domain: Argument.String("domain").pipe(Argument.withDescription("Such as hooks.example.com")) },
  Effect.fnUntraced(function* ({ domain: name }) {
    const api = yield* Api
    const output = yield* Output
    const domain = yield* api.ask((weft, asking) => weft.domains.add({ domain: name }, asking))
    yield* output.print(domain, () => domainText(domain))
  })
).pipe(
  Command.withDescription("Register a domain, and say which DNS record proves that it is yours"),
  Command.withExamples([{ command: "weft domains add hooks.example.com" }])
)

const get = Command.make(
  "get",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: asked }) {
    const output = yield* Output
    const domain = yield* find(asked)
    yield* output.print(domain, () => domainText(domain))
  })
).pipe(
  Command.withDescription("Show a domain, and the DNS record that is needed next"),
  Command.withExamples([{ command: "weft domains get hooks.example.com" }])
)

const verify = Command.make(
  "verify",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: asked }) {
    const api = yield* Api
    const output = yield* Output
    const { domain_id } = yield* find(asked)
    yield* output.status("Looking at the DNS…")
    const told = yield* api
      .ask((weft, asking) => weft.domains.verify(domain_id, asking))
      .pipe(Effect.ensuring(output.status(null)))
    yield* output.print(told, () => `${told.domain} is ${told.status}: ${printable(told.message)}`)
  })
).pipe(
  Command.withDescription("Look at once whether the DNS record is there"),
  Command.withExamples([{ command: "weft domains verify hooks.example.com" }])
)

const remove = Command.make(
  "remove",
  { domain: named },
  Effect.fnUntraced(function* ({ domain: asked }) {
    const api = yield* Api
    const output = yield* Output
    const { domain_id, domain } = yield* find(asked)
    yield* api.ask((weft, asking) => weft.domains.remove(domain_id, asking))
    yield* output.print({ removed: domain_id }, () => `Removed ${domain}; it is not routed from now on`)
  })
).pipe(
  Command.withDescription("Give a domain up"),
  Command.withExamples([{ command: "weft domains remove hooks.example.com" }])
)

export const domains = Command.make("domains").pipe(
  Command.withDescription("Host names of your own for webhooks"),
  Command.withSubcommands([list, add, get, verify, remove])
)
