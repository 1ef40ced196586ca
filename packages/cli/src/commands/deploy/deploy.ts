/** `weft deploy`: builds the project, prints the changes, uploads and deploys the build. */
import type { Build, DeployInput } from "@weft/client"
import { Effect } from "effect"
import { Command, TerminalCapabilities } from "effect/cli"
import { makeBundler } from "../../bundle/Bundle.ts"
import { Api, outsidePreview } from "../../connection/Api.ts"
import { capabilityLines, hasAdded } from "../../deployment/CapabilityText.ts"
import { type Change, diffEntryPoints } from "../../deployment/Changes.ts"
import { changeLines, entryPointLines } from "../../deployment/DeploymentText.ts"
import { type EntryPoints, listEntryPoints } from "../../deployment/EntryPoints.ts"
import { makeManifestReader } from "../../deployment/ManifestReader.ts"
import { ensureProject, getDeployedBuild, readDeployedEntryPoints } from "../../deployment/ProjectBuilds.ts"
import { fetchUrlBase, triggerUrl } from "../../deployment/TriggerUrls.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { readProject } from "../../project/Project.ts"
import { type CanarySettings, canaryFlags, readCanaryFlags } from "./CanaryFlags.ts"
import { requireConfirmation } from "./Confirmation.ts"
import { deployPreview } from "./deployPreview.ts"
import { type PreviewSettings, previewFlags, readPreviewFlags } from "./PreviewFlags.ts"

export const confirm = switchFlag("confirm", "Show the changes and ask before deploying")

const yes = switchFlag("yes", "Deploy without asking, although the code uses more than the deployed build")

export const dryRun = switchFlag("dry-run", "Show the changes without deploying")

export const deploy = Command.make(
  "deploy",
  { confirm, dryRun, yes, ...previewFlags, ...canaryFlags },
  Effect.fnUntraced(function* (flags) {
    const api = yield* Api
    const { preview } = yield* api.target
    yield* Effect.provideService(deployProject(flags, preview), Api, outsidePreview(api))
  }, Effect.scoped)
).pipe(
  Command.withDescription("Deploy the project and show the changes of handlers, schedules, webhooks and tools"),
  Command.withExamples([
    { command: "weft deploy", description: "Deploy to the current profile's server" },
    { command: "weft deploy --preview pr-42", description: "Deploy to a copy with its own URL, for 7 days" },
    { command: "weft deploy --canary 10% --for 10m", description: "Give it a tenth of the events and calls first" },
    { command: "weft deploy --dry-run --profile production", description: "Show what would change there" }
  ])
)

interface Flags extends PreviewSettings, CanarySettings {
  readonly confirm: boolean
  readonly dryRun: boolean
  readonly yes: boolean
}

const deployProject = Effect.fnUntraced(function* (
  { confirm, dryRun, yes, ttl, schedules, copyEvents, ownSecrets, ...flags }: Flags,
  preview: string | undefined
) {
  const settings = yield* readPreviewFlags(preview, { ttl, schedules, copyEvents, ownSecrets })
  const input = yield* readCanaryFlags(flags)
  if (settings !== undefined && (input.canary !== undefined || input.replace === true))
    return yield* usageError("--preview cannot be combined with flags of a canary")
  const output = yield* Output
  const { target } = yield* Api
  const { url } = yield* target
  const project = yield* readProject
  yield* output.status("building…")
  const bundle = yield* (yield* makeBundler(project)).bundle(9)
  const deployed = yield* getDeployedBuild(project.name)
  const isDeployed = deployed?.hash === bundle.hash
  if (isDeployed && settings === undefined) return yield* printUnchanged(project.name, deployed)

  yield* output.status("comparing…")
  const reader = yield* makeManifestReader
  const entryPoints = listEntryPoints(yield* reader.read(bundle.zip))
  const changes = diffEntryPoints(yield* readDeployedEntryPoints(reader, project.name, deployed), entryPoints)
  yield* printPlan({ project: project.name, url, size: bundle.zip.length, changes, deployed })
  const facts = { project: project.name, hash: bundle.hash, size: bundle.zip.length, changes }
  if (dryRun) return yield* output.print({ deployed: false, ...facts }, () => "Nothing was done: --dry-run")
  if (confirm) yield* requireConfirmation(`Deploy ${project.name} to ${url}?`)

  const buildId = isDeployed ? deployed.build_id : yield* upload(project.name, bundle.zip, bundle.hash)
  yield* reviewCapabilities(project.name, buildId, deployed !== null && !yes)
  if (preview !== undefined)
    return yield* deployPreview(project.name, preview, { build_id: buildId, ...settings }, entryPoints, facts)
  const build = yield* activate(project.name, buildId, input)
  if (input.canary !== undefined) yield* printCanary(build, input.canary.share, facts)
  else yield* printDeployed(url, build, entryPoints, facts)
})

const printUnchanged = Effect.fnUntraced(function* (project: string, { build_id, hash, size }: Build) {
  const output = yield* Output
  yield* output.print(
    { deployed: true, project, build_id, hash, size, changes: [] },
    () => `Nothing to do: this build of ${project} is already deployed (${build_id})`
  )
})

interface Plan {
  readonly project: string
  readonly url: string
  readonly size: number
  readonly changes: ReadonlyArray<Change>
  readonly deployed: Build | null
}

const printPlan = Effect.fnUntraced(function* ({ project, url, size, changes, deployed }: Plan) {
  const { note, paint } = yield* Output
  const before = deployed === null ? "the first build" : `was ${bytes(deployed.size)}`
  yield* note(`${paint.bold(project)} to ${url}, ${bytes(size)}, ${before}`)
  yield* note(changes.length === 0 ? "  same triggers, different code" : changeLines(changes, paint).join("\n"))
})

const upload = Effect.fnUntraced(function* (project: string, zip: Uint8Array, hash: string) {
  const output = yield* Output
  const { request } = yield* Api
  yield* ensureProject(project)
  yield* output.status(`uploading ${bytes(zip.length)}…`)
  const { build_id } = yield* request((weft, options) => weft.builds.upload(project, zip, { ...options, hash }))
  return build_id
})

/** Prints the capabilities that the build adds and removes. At a terminal, asks before some are added. */
const reviewCapabilities = Effect.fnUntraced(function* (project: string, buildId: string, isAsking: boolean) {
  const { json, note, paint } = yield* Output
  const { request } = yield* Api
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const found = yield* request((weft, options) =>
    weft.builds.capabilities(project, buildId, { compare: "deployed" }, options)
  ).pipe(
    Effect.catchIf(
      ({ code }) => code === "not_found",
      () => Effect.succeed(null)
    )
  )
  // A server of an older release does not know them.
  if (found === null || found.compared === null) return
  const { added, removed } = found.compared
  const lines = capabilityLines(added, removed, paint)
  if (lines.length === 0) return
  yield* note(lines.join("\n"))
  if (isAsking && hasAdded(added) && canPrompt && !json)
    yield* requireConfirmation(`The code uses more than the deployed build. Deploy ${project}?`)
})

const activate = Effect.fnUntraced(function* (project: string, buildId: string, input: DeployInput) {
  const output = yield* Output
  const { request } = yield* Api
  yield* output.status("deploying…")
  return yield* request((weft, options) => weft.builds.deploy(project, buildId, input, options))
})

const printCanary = Effect.fnUntraced(function* (build: Build, share: number, facts: object) {
  const output = yield* Output
  yield* output.print(
    { deployed: false, canary: true, build_id: build.build_id, ...facts },
    () =>
      `${output.paint.green("canary")} ${build.build_id} gets ${Math.round(share * 1000) / 10} %; see \`weft canary\``
  )
})

const printDeployed = Effect.fnUntraced(function* (url: string, build: Build, entryPoints: EntryPoints, facts: object) {
  const output = yield* Output
  const { request } = yield* Api
  const urlBase = yield* request(fetchUrlBase(url))
  const urls = entryPoints.flatMap((entryPoint) => triggerUrl(urlBase, entryPoint) ?? [])
  yield* output.print({ deployed: true, build_id: build.build_id, ...facts, urls: [...new Set(urls)] }, () =>
    [
      `${output.paint.green("deployed")} ${build.build_id}`,
      ...entryPointLines(
        entryPoints.filter((entryPoint) => triggerUrl(urlBase, entryPoint) !== null),
        output.paint,
        (entryPoint) => triggerUrl(urlBase, entryPoint)
      )
    ].join("\n")
  )
})
