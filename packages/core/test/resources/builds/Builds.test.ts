import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { firstPage } from "../../../src/foundation/Page.ts"
import { trustedZip } from "../../../src/memory/TrustedSandbox.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { BundleRejected, SandboxUnavailable } from "../../../src/platform/sandbox/Sandbox.ts"
import { artifactKey } from "../../../src/resources/builds/Artifacts.ts"
import { Builds } from "../../../src/resources/builds/Builds.ts"
import { Deployments } from "../../../src/resources/builds/Deployments.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import { as, failure, newEnv } from "../../Services.ts"
import { type Attempt, deploy, run, servedBy, setUp, upload, withSandbox } from "./Fixtures.ts"

describe("deploying a build", () => {
  it.effect("activates it, and can activate an older one again", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const one = yield* host(deploy("alpha", "one"))
        assert.isTrue(one.deployed)
        assert.strictEqual(yield* servedBy(env.env_id), one.build_id)
        yield* TestClock.adjust(1000)
        const two = yield* host(deploy("alpha", "two"))
        assert.strictEqual(yield* servedBy(env.env_id), two.build_id)
        assert.strictEqual(two.updated_at - two.created_at, 0)
        assert.deepStrictEqual(
          (yield* host(builds.listOf("alpha", firstPage))).items.map((build) => [build.build_id, build.deployed]),
          [
            [two.build_id, true],
            [one.build_id, false]
          ]
        )
        const back = yield* host(builds.deploy("alpha", one.build_id.toUpperCase()))
        assert.strictEqual(back.updated_at - back.created_at, 1000)
        assert.strictEqual(yield* servedBy(env.env_id), one.build_id)
        assert.strictEqual((yield* host(builds.deployed("alpha"))).build_id, one.build_id)
      })
    )
  )

  it.effect("lists the handlers and schedules by ns, then var", () =>
    run(
      Effect.gen(function* () {
        const { builds, host } = yield* setUp
        assert.deepStrictEqual(yield* host(builds.handlers("alpha", firstPage)), { items: [], total: 0 })
        const { build_id } = yield* host(deploy("alpha", "one"))
        const { items, total } = yield* host(builds.handlers("alpha", firstPage))
        assert.deepStrictEqual(
          items.map((it) => [it.build_id, it.ns, it.var, it.event_type]),
          [
            [build_id, "extra", "last", "c"],
            [build_id, "main", "alpha", "a"],
            [build_id, "main", "zeta", "b"],
            [build_id, "main", "zeta", "a"]
          ]
        )
        assert.strictEqual(total, 4)
        const second = yield* host(builds.handlers("alpha", { limit: 1, offset: 1 }))
        assert.deepStrictEqual([second.items.map((it) => it.var), second.total], [["alpha"], 4])
        const schedules = yield* host(builds.schedules("alpha", firstPage))
        assert.deepInclude(schedules.items[0], { build_id, cron: "0 3 * * *", ns: "main", var: "alpha" })
        yield* host(deploy("alpha", "two"))
        assert.strictEqual((yield* host(builds.schedules("alpha", firstPage))).total, 0)
      })
    )
  )

  it.effect("lists what a build declares, also before its deployment", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const { build } = yield* host(upload("alpha", "one"))
        const before = yield* host(builds.manifest("alpha", build.build_id))
        assert.deepStrictEqual(
          before.manifest.endpoints.map(({ method, service, path }) => [method, service, path]),
          [["POST", "shop", "/hello"]]
        )
        assert.isFalse(before.isActive)
        assert.isUndefined(yield* servedBy(env.env_id))
        yield* host(builds.deploy("alpha", build.build_id))
        const after = yield* host(builds.manifest("alpha", build.build_id))
        assert.strictEqual(after.manifest.handlers.length, before.manifest.handlers.length)
        assert.isTrue(after.isActive)
        const [stored] = (yield* host(builds.schedules("alpha", firstPage))).items
        assert.strictEqual(after.manifest.schedules[0]?.schedule_id, stored?.schedule_id)
        const bad = (yield* host(upload("alpha", "bad"))).build
        assert.strictEqual(yield* host(failure(builds.manifest("alpha", bad.build_id))), "BadRequest")
      })
    )
  )

  it.effect("changes nothing if the metadata is invalid", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const one = yield* host(deploy("alpha", "one"))
        const error = yield* host(Effect.flip(deploy("alpha", "bad")))
        assert.deepStrictEqual(
          [error._tag, error.message],
          ["BadRequest", "main/broken: meta.retry.attempts must be a number from 1 to 100"]
        )
        assert.strictEqual(yield* servedBy(env.env_id), one.build_id)
        assert.strictEqual((yield* host(builds.deployed("alpha"))).build_id, one.build_id)
      })
    )
  )

  it.effect("changes nothing if another project has an endpoint", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const one = yield* host(deploy("alpha", "one"))
        const error = yield* host(Effect.flip(deploy("beta", "two")))
        assert.strictEqual(error._tag, "BadRequest")
        assert.match(error.message, /^\S+\/\S+: meta\.webhook claims POST \/shop\/hello, which another project/)
        assert.strictEqual(yield* servedBy(env.env_id), one.build_id)
        assert.strictEqual(yield* host(failure(builds.deployed("beta"))), "NotFound")
      })
    )
  )

  it.effect("stores the artifact next to the zip", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* setUp
        const blobs = yield* BlobStore
        const { build } = yield* host(upload("alpha", "one"))
        assert.strictEqual(yield* failure(blobs.get(artifactKey(build))), "NotFound")
        yield* host((yield* Builds).deploy("alpha", build.build_id))
        assert.deepStrictEqual(yield* blobs.get(artifactKey(build)), trustedZip("one"))
      })
    )
  )

  it.effect("shows the new name of a renamed project in its active build", () =>
    run(
      Effect.gen(function* () {
        const { env, host } = yield* setUp
        const one = yield* host(deploy("alpha", "one"))
        const deployments = yield* Deployments
        yield* deployments.of(env.env_id)
        yield* host((yield* Projects).update("alpha", { name: "omega" }))
        const { builds } = yield* deployments.of(env.env_id)
        assert.strictEqual(builds.get(one.build_id)?.build.project_name, "omega")
      })
    )
  )
})

describe("deploying and the sandbox", () => {
  it.effect("clears the quarantine of the build", () => {
    const pardoned: Array<string> = []
    const layer = withSandbox((trusted) => ({
      ...trusted,
      clearQuarantine: (buildId) => Effect.sync(() => void pardoned.push(buildId))
    }))
    return Effect.gen(function* () {
      const { host } = yield* setUp
      yield* host(failure(deploy("alpha", "bad")))
      assert.deepStrictEqual(pardoned, [])
      const { build_id } = yield* host(deploy("alpha", "one"))
      // The node may also receive its own message.
      assert.deepStrictEqual([...new Set(pardoned)], [build_id])
    }).pipe(Effect.provide(layer))
  })

  it.effect("loads the deployed build before its first call", () => {
    const warmed: Array<string> = []
    const layer = withSandbox((trusted) => ({
      ...trusted,
      warm: ({ build_id, artifact }) => Effect.sync(() => void (artifact.length > 0 && warmed.push(build_id)))
    }))
    return Effect.gen(function* () {
      const { host } = yield* setUp
      yield* host(failure(deploy("alpha", "bad")))
      const { build_id } = yield* host(deploy("alpha", "one"))
      assert.deepStrictEqual(warmed, [build_id])
    }).pipe(Effect.provide(layer))
  })

  it.effect("reports why a build cannot be loaded, and an outage of the sandbox", () => {
    const errors = [new BundleRejected({ reason: "index.js:1:2 no" }), new SandboxUnavailable({ reason: "no runner" })]
    const layer = withSandbox((trusted) => ({
      ...trusted,
      prepare: (zip) =>
        Effect.flatMap(
          Effect.sync(() => errors.shift()),
          (error) => error ?? trusted.prepare(zip)
        )
    }))
    return Effect.gen(function* () {
      const { env, host } = yield* setUp
      const rejected = yield* host(Effect.flip(deploy("alpha", "one")))
      assert.deepStrictEqual([rejected._tag, rejected.message], ["BadRequest", "index.js:1:2 no"])
      assert.strictEqual(yield* host(failure(deploy("alpha", "one"))), "SandboxUnavailable")
      assert.isUndefined(yield* servedBy(env.env_id))
      const { build_id } = yield* host(deploy("alpha", "one"))
      assert.strictEqual(yield* servedBy(env.env_id), build_id)
    }).pipe(Effect.provide(layer))
  })
})

describe("permissions on builds", () => {
  it.effect("let a credential read the builds of its projects, by id or by name", () =>
    run(
      Effect.gen(function* () {
        const { env, alpha, beta, builds, host } = yield* setUp
        const mine = (yield* host(upload("alpha", "one"))).build
        const other = (yield* host(upload("beta", "two"))).build
        for (const path of ["alpha", alpha.project_id]) {
          const reader = as(env.env_id, { [`build:${path}`]: ["read"] })
          const { items, total } = yield* reader(builds.list(firstPage))
          assert.deepStrictEqual([items.map((it) => it.build_id), total], [[mine.build_id], 1])
          for (const project of ["alpha", alpha.project_id, alpha.project_id.toUpperCase()]) {
            assert.strictEqual((yield* reader(builds.get(project, mine.build_id))).build_id, mine.build_id)
            assert.strictEqual(yield* reader(failure(builds.get(project, other.build_id))), "NotFound")
            assert.strictEqual(yield* reader(failure(builds.get(project, "nonsense"))), "NotFound")
            assert.strictEqual(yield* reader(failure(builds.deploy(project, mine.build_id))), "Forbidden")
          }
          for (const project of ["beta", beta.project_id, "ghost"]) {
            assert.strictEqual(yield* reader(failure(builds.get(project, other.build_id))), "Forbidden")
            assert.strictEqual(yield* reader(failure(builds.listOf(project, firstPage))), "Forbidden")
            assert.strictEqual(yield* reader(failure(builds.handlers(project, firstPage))), "Forbidden")
          }
        }
      })
    )
  )

  it.effect("are required for every operation", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const { build } = yield* host(upload("alpha", "one"))
        const nobody = as(env.env_id, {})
        const attempts: ReadonlyArray<Attempt> = [
          builds.list(firstPage),
          builds.listOf("alpha", firstPage),
          builds.get("alpha", build.build_id),
          builds.deployed("alpha"),
          builds.download("alpha", build.build_id),
          builds.manifest("alpha", build.build_id),
          builds.deploy("alpha", build.build_id),
          builds.release("alpha", build.build_id),
          builds.handlers("alpha", firstPage),
          builds.schedules("alpha", firstPage),
          upload("alpha", "one"),
          builds.get("ghost", build.build_id)
        ]
        for (const attempt of attempts) assert.strictEqual(yield* nobody(failure(attempt)), "Forbidden")
      })
    )
  )

  it.effect("do not reach other environments", () =>
    run(
      Effect.gen(function* () {
        const { builds, alpha, host } = yield* setUp
        const { build_id } = yield* host(deploy("alpha", "one"))
        const other = yield* newEnv("other")
        const stranger = as(other.env_id)
        const attempts: ReadonlyArray<Attempt> = [
          builds.listOf("alpha", firstPage),
          builds.listOf(alpha.project_id, firstPage),
          builds.get(alpha.project_id, build_id),
          builds.deploy(alpha.project_id, build_id),
          builds.release(alpha.project_id, build_id),
          builds.download(alpha.project_id, build_id),
          builds.manifest(alpha.project_id, build_id),
          builds.deployed(alpha.project_id),
          builds.handlers(alpha.project_id, firstPage),
          upload(alpha.project_id, "one")
        ]
        for (const attempt of attempts) assert.strictEqual(yield* stranger(failure(attempt)), "NotFound")
        assert.strictEqual((yield* stranger(builds.list(firstPage))).total, 0)
        assert.strictEqual((yield* (yield* Deployments).of(other.env_id)).builds.size, 0)
      })
    )
  )
})
