/**
 * Uploads a build.
 *
 * Writes the bytes first, under a unique key per upload, so that concurrent uploads of one `build_id` cannot remove each
 * other's bytes. Then stores the record. Stores nothing of a rejected build.
 */
import { Context, Effect } from "effect"
import { Digest } from "effect/crypto"
import {
  BadRequest,
  type DeploymentRefused,
  type Forbidden,
  type NotFound,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { BuildId, freshIds, isUuid } from "../../foundation/Ids.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { defaultLimits } from "../../platform/sandbox/Limits.ts"
import { Sandbox, type SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { FileStore } from "../files/FileStore.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { type ResolvedProject, resolveProject } from "../projects/resolveProject.ts"
import { artifactKey } from "./Artifacts.ts"
import { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { Deployments } from "./Deployments.ts"
import { makeCheckPolicy } from "./DeployPolicy.ts"
import { toEndpointConflict } from "./EndpointConflict.ts"
import { makePrepare, type Preparation } from "./Preparation.ts"
import { PreparationQueue } from "./PreparationQueue.ts"

export interface NewBuild {
  readonly zip: Uint8Array
  /** SHA-256 of the zip in hex. */
  readonly hash: string
  /** A UUID that makes the upload idempotent; a new one by default. */
  readonly build_id?: string
  /** `live` makes it the project's live build; `bundle` by default. */
  readonly build_type?: Build["build_type"]
}

export interface Uploaded {
  readonly build: Build
  /** True if the project already had the build, so that nothing was stored. */
  readonly existed: boolean
}

/** Maximum time between the reservation of the bytes and the store of the build, in milliseconds. */
const reservationMs = 600_000

/** Maximum size of a build's zip in bytes. A host that changes the limit of its sandbox changes this one as well. */
export const ArchiveBytesMax = Context.Reference<number>("@weft/core/resources/builds/ArchiveBytesMax", {
  defaultValue: () => defaultLimits.archiveBytes
})

export type Upload = (
  project: string,
  input: NewBuild
) => Effect.Effect<
  Uploaded,
  Forbidden | BadRequest | DeploymentRefused | NotFound | SandboxUnavailable | StoreUnavailable,
  Caller
>

export const makeUpload = Effect.gen(function* () {
  const store = yield* BuildStore
  const blobs = yield* BlobStore
  const files = yield* FileStore
  const projects = yield* ProjectStore
  const sandbox = yield* Sandbox
  const digest = yield* Digest.Digest
  const deployments = yield* Deployments
  const prepare = yield* makePrepare
  const checkPolicy = yield* makeCheckPolicy
  const queue = yield* PreparationQueue
  const freshId = yield* freshIds
  const bytesMax = yield* ArchiveBytesMax

  /** Returns the existing build with the id, or null. Does not compare the bytes. */
  const existing = Effect.fnUntraced(function* (
    { caller, project }: ResolvedProject,
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

  /** Removes bytes that no stored build references. Reads the record first, because a failed store may have succeeded. */
  const discardBytes = (build: Build) =>
    Effect.gen(function* () {
      const stored = yield* orNull(store.get(build.env_id, build.build_id))
      if (stored?.storage_path !== build.storage_path) yield* removeBytes(build.storage_path)
      if (stored === null && build.build_type === "live") yield* removeBytes(artifactKey(build))
    }).pipe(
      Effect.ignore({
        log: "Warn",
        message: `The bytes of build ${build.build_id} could not be removed; the janitor will remove them`
      })
    )

  const removeBytes = (key: string) => Effect.andThen(blobs.remove(key), files.release([key]))

  /** Stores and activates a live build. Uninterruptible from the store on, so that no node keeps an outdated snapshot. */
  const goLive = Effect.fnUntraced(function* (build: Build, { manifest, artifact }: Preparation) {
    yield* blobs.put(artifactKey(build), artifact)
    yield* Effect.uninterruptible(Effect.andThen(store.goLive(build, manifest), deployments.changed(build.env_id)))
    // If this fails, the janitor removes the artifact, which can be compiled again.
    yield* Effect.ignore(files.release([artifactKey(build)]), { log: "Warn" })
  })

  /** Writes the bytes and stores the build. If that fails, the bytes are removed now or by the janitor. */
  const writeAndStore = (build: Build, zip: Uint8Array, live: Preparation | null) =>
    Effect.gen(function* () {
      const until = addMillis(yield* now, reservationMs)
      yield* files.reserve(build.storage_path, until)
      if (live !== null) yield* files.reserve(artifactKey(build), until)
      yield* blobs.put(build.storage_path, zip)
      yield* live === null ? store.insert(build) : goLive(build, live)
    }).pipe(Effect.onError(() => discardBytes(build)))

  return Effect.fnUntraced(function* (idOrName, input) {
    const hash = input.hash.toLowerCase()
    const build_type = input.build_type ?? "bundle"
    const shape = checkShape(hash, input.build_id)
    // A live build becomes active, which needs the permission of `deploy`.
    const action = build_type === "live" ? "execute" : "create"
    const named = yield* resolveProject(projects, idOrName, "build", action, shape)
    const id = input.build_id === undefined ? yield* freshId(BuildId) : BuildId.make(input.build_id.toLowerCase())
    yield* checkBytes(input.zip, hash)
    const known = yield* existing(named, id, build_type)
    if (known !== null) return known
    yield* checkZip(input.zip)
    const { project_id, env_id, name } = named.project
    const live = build_type === "live" ? yield* queue.withTurn(env_id)(prepare(input.zip)) : null

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
    if (live !== null) yield* checkPolicy(build, live.manifest)
    // `Taken`: a concurrent upload has stored the id, or a build of another environment has it.
    return yield* writeAndStore(build, input.zip, live).pipe(
      Effect.as<Uploaded>({ build, existed: false }),
      Effect.catchTag("Taken", (taken) =>
        taken.what === "build_id" || live === null
          ? Effect.flatMap(existing(named, id, build_type), (known) =>
              known === null ? Effect.fail(usedId) : Effect.succeed(known)
            )
          : Effect.fail(toEndpointConflict(taken, live.manifest))
      )
    )
  }) satisfies Upload
})

const refuse = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))

const orNull = <A, E>(found: Effect.Effect<A, E | NotFound>): Effect.Effect<A | null, E> =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))

const usedId = new BadRequest({ reason: "build_id is already in use" })
const otherType = new BadRequest({ reason: "build_type differs from that of the existing build with this build_id" })

const checkShape = (hash: string, buildId: string | undefined): Effect.Effect<void, BadRequest> => {
  if (!/^[0-9a-f]{64}$/.test(hash)) return refuse("hash must be a SHA-256 as 64 hexadecimal digits")
  return buildId === undefined || isUuid(buildId) ? Effect.void : refuse("build_id must be a UUID")
}
