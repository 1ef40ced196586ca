/** `weft deploy`: builds, says what will be different, uploads, and has the build serve. */
import type { Build } from "@weft/client"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { makeBundler } from "../../bundle/Bundle.ts"
import { Api } from "../../connection/Api.ts"
import { addressesAt, addressOf } from "../../deployment/Addresses.ts"
import { type Change, changesOf } from "../../deployment/Changes.ts"
import { type Offer, offerOf } from "../../deployment/Offer.ts"
import { makeReader } from "../../deployment/Reading.ts"
import { deployedBuild, ensureProject, offerOfDeployed } from "../../deployment/Servers.ts"
import { tellChanges, tellOffer } from "../../deployment/Telling.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { readProject } from "../../project/Project.ts"
import { consent } from "./Consent.ts"

export const confirm = switchFlag("confirm", "Ask after the changes were shown")

export const dryRun = switchFlag("dry-run", "Show the changes, and do nothing")

export const deploy = Command.make(
  "deploy",
  { confirm, dryRun },
  Effect.fnUntraced(function* ({ confirm, dryRun }) {
    const output = yield* Output
    const { target } = yield* Api
    const { url } = yield* target
    const project = yield* readProject
    yield* output.status("building…")
    const bundle = yield* (yield* makeBundler(project)).bundle(9)
    const deployed = yield* deployedBuild(project.name)
    if (deployed?.hash === bundle.hash) return yield* tellSame(project.name, deployed)

    yield* output.status("comparing…")
    const reader = yield* makeReader
    const offer = offerOf(yield* reader.read(bundle.zip))
    const changes = changesOf(yield* offerOfDeployed(reader, project.name, deployed), offer)
    yield* tellPlan({ project: project.name, url, size: bundle.zip.length, changes, deployed })
    const facts = { project: project.name, hash: bundle.hash, size: bundle.zip.length, changes }
    if (dryRun) return yield* output.print({ deployed: false, ...facts }, () => "Nothing was done: --dry-run")
    if (confirm) yield* consent(`Deploy ${project.name} to ${url}?`)

    const build = yield* upload(project.name, bundle.zip, bundle.hash)
    yield* tellDeployed(url, build, offer, facts)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Deploy the project, and say what changes: handlers, schedules, webhooks, tools"),
  Command.withExamples([
    { command: "weft deploy", description: "Deploy to the current profile's server" },
    { command: "weft deploy --dry-run --profile production", description: "See what would change there" }
  ])
)

const tellSame = Effect.fnUntraced(function* (project: string, { build_id, hash, size }: Build) {
  const output = yield* Output
  yield* output.print(
    { deployed: true, project, build_id, hash, size, changes: [] },
    () => `Nothing to do: this very build of ${project} is deployed already (${build_id})`
  )
})

interface Plan {
  readonly project: string
  readonly url: string
  readonly size: number
  readonly changes: ReadonlyArray<Change>
  readonly deployed: Build | null
}

const tellPlan = Effect.fnUntraced(function* ({ project, url, size, changes, deployed }: Plan) {
  const { note, paint } = yield* Output
  const before = deployed === null ? "the first build" : `was ${bytes(deployed.size)}`
  yield* note(`${paint.bold(project)} to ${url}, ${bytes(size)}, ${before}`)
  yield* note(changes.length === 0 ? "  the same triggers, other code" : tellChanges(changes, paint).join("\n"))
})

const upload = Effect.fnUntraced(function* (project: string, zip: Uint8Array, hash: string) {
  const output = yield* Output
  const { ask } = yield* Api
  yield* ensureProject(project)
  yield* output.status(`uploading ${bytes(zip.length)}…`)
  const { build_id } = yield* ask((weft, asking) => weft.builds.upload(project, zip, { ...asking, hash }))
  yield* output.status("deploying…")
  return yield* ask((weft, asking) => weft.builds.deploy(project, build_id, asking))
})

const tellDeployed = Effect.fnUntraced(function* (url: string, build: Build, offer: Offer, facts: object) {
  const output = yield* Output
  const { ask } = yield* Api
  const addresses = yield* ask(addressesAt(url))
  const urls = offer.flatMap((offered) => addressOf(addresses, offered) ?? [])
  yield* output.print({ deployed: true, build_id: build.build_id, ...facts, urls: [...new Set(urls)] }, () =>
    [
      `${output.paint.green("deployed")} ${build.build_id}`,
      ...tellOffer(
        offer.filter((offered) => addressOf(addresses, offered) !== null),
        output.paint,
        (offered) => addressOf(addresses, offered)
      )
    ].join("\n")
  )
})
