import type { Organization } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const columns: ReadonlyArray<Column<Organization>> = [
  { title: "SLUG", of: (org) => org.slug },
  { title: "PLAN", of: (org) => org.plan },
  { title: "ID", of: (org) => org.org_id },
  { title: "NAME", of: (org) => org.name, isFlexible: true },
  { title: "CREATED", of: (org) => localTime(org.created_at), isExtra: true }
]

const plan = Flag.Literals("plan", ["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"]).pipe(
  Flag.withDescription("Plan, which sets the limits"),
  Flag.optional
)
const name = Flag.String("name").pipe(Flag.withDescription("Display name"), Flag.optional)

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const orgs = yield* api.requestAdmin((admin, options) => loadPages(range, (page) => admin.listOrgs(page, options)))
    yield* printTable(columns, orgs, "There are no organizations")
  })
).pipe(
  Command.withDescription("List organizations, newest first"),
  Command.withExamples([{ command: "weft admin orgs list --all" }])
)

const create = Command.make(
  "create",
  { slug: Argument.String("slug").pipe(Argument.withDescription("Name in URLs")), name, plan },
  Effect.fnUntraced(function* ({ slug, name, plan }) {
    const api = yield* Api
    const output = yield* Output
    const input = { slug, name: Option.getOrUndefined(name), plan: Option.getOrUndefined(plan) }
    const org = yield* api.requestAdmin((admin, options) => admin.createOrg(input, options))
    yield* output.print(org, () => org.org_id)
    yield* output.note(`Create an environment in it with: weft admin envs create ${org.slug} production`)
  })
).pipe(
  Command.withDescription("Create an organization and print its id"),
  Command.withExamples([{ command: "weft admin orgs create acme --plan Pro" }])
)

const update = Command.make(
  "update",
  {
    org: Argument.String("org").pipe(Argument.withDescription("The organization's slug or id")),
    name,
    plan,
    members: Flag.Int("members").pipe(Flag.withDescription("Number of members"), Flag.optional)
  },
  Effect.fnUntraced(function* ({ org: slugOrId, name, plan, members }) {
    const api = yield* Api
    const output = yield* Output
    if ([name, plan, members].every((flag) => Option.isNone<unknown>(flag))) {
      return yield* usageError("No change is given", "give --name, --plan or --members")
    }
    const change = {
      name: Option.getOrUndefined(name),
      plan: Option.getOrUndefined(plan),
      members: Option.getOrUndefined(members)
    }
    const org = yield* api.requestAdmin((admin, options) => admin.updateOrg(slugOrId, change, options))
    yield* output.print(org, () => `Changed ${org.slug}: plan ${org.plan}, ${org.members} members`)
  })
).pipe(
  Command.withDescription("Change an organization"),
  Command.withExamples([{ command: "weft admin orgs update acme --plan Scale" }])
)

export const orgs = Command.make("orgs").pipe(
  Command.withDescription("Organizations"),
  Command.withSubcommands([list, create, update])
)
