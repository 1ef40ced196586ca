/**
 * Taking in a build.
 *
 * Nothing of a refused build is kept, and a build is stored before it is told to be. Its bytes come first, under
 * a key of their own for every upload, so that two uploads of one `build_id` cannot take each other's away.
 */
import { Context, Effect } from "effect"
import { Digest } from "effect/crypto"
import type { Caller } from "../access/Caller.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import { BadRequest, type Forbidden, type NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import { FileStore } from "../files/FileStore.ts"
import { BuildId, freshIds, isUuid } from "../ids/Ids.ts"
import { addMillis, now } from "../ids/Timestamp.ts"
import { type NamedProject, namedProject } from "../projects/NamedProject.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { defaultLimits } from "../sandbox/Limits.ts"
import { Sandbox, type SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { artifactKey } from "./Artifacts.ts"
import { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { servedElsewhere } from "./Deploy.ts"
import { Deployments } from "./Deployments.ts"
import { makePrepare, type Preparation } from "./Preparation.ts"

export interface NewBuild {
  readonly zip: Uint8Array
  /** SHA-256 of the zip, hex. */
  readonly hash: string
  /** A UUID that makes repeating the upload safe; a new one by default. */
  readonly build_id?: string
  /** `live` makes it the project's live build; `bundle` by default. */
  readonly build_type?: Build["build_type"]
}

export interface Uploaded {
  readonly build: Build
  /** Whether the project had this very build already; then nothing was stored. */
  readonly existed: boolean
}

/** How long bytes may take to be stored with their build, in milliseconds; later the janitor takes them for nobody's. */
const noteMs = 600_000

/** The largest zip of a build, in bytes. A host that gives its sandbox other limits sets it to the same. */
export const ArchiveBytesMax = Context.Reference<number>("@weft/core/builds/ArchiveBytesMax", {
  defaultValue: () => defaultLimits.archiveBytes
})

export type Upload = (
  project: string,
  input: NewBuild
) => Effect.Effect<Uploaded, Forbidden | BadRequest | NotFound | SandboxUnavailable | StoreUnavailable, Caller>

export const makeUpload = Effect.gen(function* () {
  const store = yield* BuildStore
  const blobs = yield* BlobStore
  const files = yield* FileStore
  const projects = yield* ProjectStore
  const sandbox = yield* Sandbox
  const digest = yield* Digest.Digest
  const deployments = yield* Deployments
  const prepare = yield* makePrepare
  const freshId = yield* freshIds
  const bytesMax = yield* ArchiveBytesMax

  /** The build that has the id already, whatever was sent this time. */
  const existing = Effect.fnUntraced(function* (
    { caller, project }: NamedProject,
    id: BuildId,
    build_type: Build["build_type"]
  ) {
    const found = yield* orNull(store.get(caller.env_id, id))
    if (found === null) return null
    if (found.project_id !== project.project_id) return yield* usedId
    return found.build_type === build_type ? ({ build: found, existed: true } satisfies Uploaded) : yield* otherType
  })

  const checkBytes = Effect.fnUntraced(function* (zip: Uint8Array, hash: string) {
    if (zip.length > bytesMax) return yield* refuse(`file must have at most ${bytesMax} bytes`)
    const actual = yield* digest.digestHex(Digest.sha256, zip)
    if (actual !== hash) return yield* refuse("hash is not the SHA-256 of the file")
  })

  const checkZip = (zip: Uint8Array) =>
    Effect.catchTag(sandbox.check(zip), "BundleRejected", ({ reason }) => refuse(`file: ${reason}`))

  /** Bytes whose build did not come to be stored are nobody's. After a doubtful answer the store is asked. */
  const clearAway = (build: Build) =>
    Effect.gen(function* () {
      const stored = yield* orNull(store.get(build.env_id, build.build_id))
      if (stored?.storage_path !== build.storage_path) yield* removeBytes(build.storage_path)
      if (stored === null && build.build_type === "live") yield* removeBytes(artifactKey(build))
    }).pipe(Effect.ignore({ log: "Warn", message: `The bytes of build ${build.build_id} are left to the janitor` }))

  const removeBytes = (key: string) => Effect.andThen(blobs.remove(key), files.forget([key]))

  /** Whoever goes away in the middle leaves no node with an old snapshot. */
  const goLive = Effect.fnUntraced(function* (build: Build, { manifest, artifact }: Preparation) {
    yield* blobs.put(artifactKey(build), artifact)
    yield* Effect.uninterruptible(Effect.andThen(store.goLive(build, manifest), deployments.changed(build.env_id)))
    // Otherwise the janitor removes what can be made again.
    yield* Effect.ignore(files.forget([artifactKey(build)]), { log: "Warn" })
  })

  /** Whatever happens from here on, the bytes end up named by the build or removed. */
  const keep = (build: Build, zip: Uint8Array, live: Preparation | null) =>
    Effect.gen(function* () {
      const until = addMillis(yield* now, noteMs)
      yield* files.announce(build.storage_path, until)
      if (live !== null) yield* files.announce(artifactKey(build), until)
      yield* blobs.put(build.storage_path, zip)
      yield* live === null ? store.insert(build) : goLive(build, live)
    }).pipe(Effect.onError(() => clearAway(build)))

  return Effect.fnUntraced(function* (idOrName, input) {
    const hash = input.hash.toLowerCase()
    const build_type = input.build_type ?? "bundle"
    const shape = checkShape(hash, input.build_id)
    // What is live runs at once, as what is deployed does.
    const action = build_type === "live" ? "execute" : "create"
    const named = yield* namedProject(projects, idOrName, "build", action, shape)
    const id = input.build_id === undefined ? yield* freshId(BuildId) : BuildId.make(input.build_id.toLowerCase())
    yield* checkBytes(input.zip, hash)
    const known = yield* existing(named, id, build_type)
    if (known !== null) return known
    yield* checkZip(input.zip)
    const live = build_type === "live" ? yield* prepare(input.zip) : null

    const { project_id, env_id, name } = named.project
    const instant = yield* now
    const build = new Build({
      build_id: id,
      project_id,
      project_name: name,
      env_id,
      hash,
      size: input.zip.length,
      build_type,
      deployed: false,
      active: true,
      created_at: instant,
      updated_at: instant,
      storage_path: `builds/${env_id}/${project_id}/${id}.${yield* freshId(BuildId)}.zip`,
      storage_backend: blobs.backend
    })
    // Another upload of the same id may have come between; a build of another environment shows only here.
    return yield* keep(build, input.zip, live).pipe(
      Effect.as<Uploaded>({ build, existed: false }),
      Effect.catchTag("Taken", (taken) =>
        taken.what === "build_id" || live === null
          ? Effect.flatMap(existing(named, id, build_type), (known) =>
              known === null ? Effect.fail(usedId) : Effect.succeed(known)
            )
          : Effect.fail(servedElsewhere(taken, live.manifest))
      )
    )
  }) satisfies Upload
})

const refuse = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))

const orNull = <A, E>(found: Effect.Effect<A, E | NotFound>): Effect.Effect<A | null, E> =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))

const usedId = new BadRequest({ reason: "build_id is already in use" })
const otherType = new BadRequest({ reason: "build_type differs from that of the build which has the build_id" })

const checkShape = (hash: string, buildId: string | undefined): Effect.Effect<void, BadRequest> => {
  if (!/^[0-9a-f]{64}$/.test(hash)) return refuse("hash must be a SHA-256 as 64 hexadecimal digits")
  return buildId === undefined || isUuid(buildId) ? Effect.void : refuse("build_id must be a UUID")
}
