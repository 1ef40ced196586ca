/** Source text that clients run without a deployment, compiled for the sandbox, and the build of its context. */
import { Context, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import {
  BadRequest,
  type ContentDamaged,
  type Forbidden,
  type NotFound,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { BuildId, type EnvId, type ReplId } from "../../foundation/Ids.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import {
  type BundleRef,
  type BundleRejected,
  Sandbox,
  type SandboxUnavailable
} from "../../platform/sandbox/Sandbox.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { BuildZips } from "./BuildZips.ts"
import { toBuildId } from "./Deploy.ts"
import { PreparationQueue } from "./PreparationQueue.ts"

export interface Source {
  readonly env_id: EnvId
  readonly text: string
  /** The build that the source can import as `weft:build`; null without one. */
  readonly build: Build | null
  /** Distinguishes isolates of one text, such as those with different capabilities. */
  readonly variant?: string
}

export interface CompiledSource {
  /** SHA-256 of the text in lowercase hex. */
  readonly hash: string
  /** The bundle for invocations of `main/default`. */
  readonly bundle: BundleRef
}

type CompileFailed = ContentDamaged | SandboxUnavailable | StoreUnavailable
type CompileError = BadRequest | ContentDamaged | SandboxUnavailable | StoreUnavailable

export interface PreparedInput {
  /** SHA-256 of the input in lowercase hex. */
  readonly hash: string
  readonly script: string
}

/** Maximum characters of all keys in the cache of a node. Scripts and maps have about three times as many bytes. */
const cachedCharactersMax = 16 * 1024 * 1024

export class Sources extends Context.Service<
  Sources,
  {
    /**
     * Returns the build of a context: that of the id, or the deployed one for `deployed`. Needs `build: create` and
     * `build: execute` on the project, because a source with the build can read the secrets of the project.
     */
    readonly context: (
      project: string,
      buildId: string
    ) => Effect.Effect<Build, Forbidden | NotFound | StoreUnavailable, Caller>
    /** Compiles a source for one run. `BadRequest` contains the position of a syntax error. */
    readonly compile: (source: Source) => Effect.Effect<CompiledSource, CompileError>
    /** As `compile`, for many runs: returns the same bundle for the same source while it is cached. */
    readonly compileOnce: (source: Source) => Effect.Effect<CompiledSource, CompileError>
    /** Compiles the program of a session, whose isolate keeps its state under the id. */
    readonly session: (id: ReplId, source: Omit<Source, "text">) => Effect.Effect<BundleRef, CompileError>
    /** Converts an input of a session to JavaScript. `BadRequest` contains the position of a syntax error. */
    readonly input: (env_id: EnvId, text: string) => Effect.Effect<PreparedInput, CompileError>
  }
>()("@weft/core/resources/builds/Sources") {
  static readonly layer: Layer.Layer<
    Sources,
    never,
    BuildStore | BuildZips | ProjectStore | PreparationQueue | Sandbox | Digest.Digest
  > = Layer.effect(
    Sources,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const zips = yield* BuildZips
      const projects = yield* ProjectStore
      const queue = yield* PreparationQueue
      const sandbox = yield* Sandbox
      const { digestHex } = yield* Digest.Digest
      const hash = (text: string) => digestHex(Digest.sha256, utf8Encode(text))

      /** Compiles in turn, and converts a rejection to the error of a caller. */
      const inTurn = <A>(env_id: EnvId, compiling: Effect.Effect<A, BundleRejected | CompileFailed>) =>
        queue
          .withTurn(env_id)(compiling)
          .pipe(
            Effect.catchTag("BundleRejected", ({ reason }) =>
              Effect.fail(new BadRequest({ reason: `source: ${reason}` }))
            )
          )

      const zipOf = (build: Build | null) => (build === null ? Effect.succeed(null) : zips.get(build))

      const compile = Effect.fnUntraced(function* ({ env_id, text, build, variant = "" }: Source) {
        const artifact = yield* inTurn(
          env_id,
          Effect.flatMap(zipOf(build), (bytes) => sandbox.compileSource({ text, build: bytes }))
        )
        const identity = yield* hash(JSON.stringify([env_id, build?.build_id ?? null, variant, text]))
        const bundle: BundleRef = {
          env_id,
          build_id: toSourceId(identity),
          artifact: Effect.succeed(artifact),
          renewed: Effect.succeed(artifact),
          strike_id: BuildId.make(env_id)
        }
        return { hash: yield* hash(text), bundle } satisfies CompiledSource
      })

      const cache = new SourceCache()

      return Sources.of({
        context: Effect.fnUntraced(function* (idOrName, buildId) {
          const { project } = yield* resolveProject(projects, idOrName, "build", "execute")
          yield* requirePermission("build", [project.name, project.project_id], "create")
          if (buildId === "deployed") return (yield* store.deployed(project.env_id, project.project_id)).build
          return yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id)
        }),
        compile: (source) =>
          Effect.map(compile(source), ({ hash, bundle }) => ({ hash, bundle: { ...bundle, isSingleUse: true } })),
        session: (id, { env_id, build }) =>
          Effect.map(inTurn(env_id, Effect.flatMap(zipOf(build), sandbox.compileSession)), (artifact) => ({
            env_id,
            build_id: BuildId.make(id),
            artifact: Effect.succeed(artifact),
            renewed: Effect.succeed(artifact),
            keepsState: true,
            strike_id: BuildId.make(env_id)
          })),
        input: (env_id, text) =>
          Effect.flatMap(inTurn(env_id, sandbox.prepareInput(text)), (script) =>
            Effect.map(hash(text), (hashed) => ({ hash: hashed, script }))
          ),
        compileOnce: (source) => {
          const key = JSON.stringify([source.env_id, source.build?.build_id ?? null, source.variant ?? "", source.text])
          const known = cache.get(key)
          return known === undefined
            ? Effect.tap(compile(source), (compiled) => Effect.sync(() => cache.add(key, compiled)))
            : Effect.succeed(known)
        }
      })
    })
  )
}

/** Compiled sources by their key. Evicts the least recently used. */
class SourceCache {
  readonly #entries = new Map<string, CompiledSource>()
  #characters = 0

  get(key: string): CompiledSource | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    // Moves the entry to the end, behind all others.
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found
  }

  add(key: string, compiled: CompiledSource): void {
    if (!this.#entries.has(key)) this.#characters += key.length
    this.#entries.set(key, compiled)
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= cachedCharactersMax) return
      this.#entries.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}

/** Returns the id of a source's bundle: a UUID of version 8 from a digest. */
const toSourceId = (digest: string): BuildId =>
  BuildId.make(
    `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  )
