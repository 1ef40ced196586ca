/** Previews of the projects of the caller's environment. Methods check the permission first, then the input. */
import { Context, Effect, Layer, Result } from "effect"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import type { Caller, Identity } from "../../tenants/access/Caller.ts"
import type { Action } from "../../tenants/access/Permission.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { PublicUrl } from "../files/PublicUrl.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import { type NewPreview, type Preview, previewEnvName, readTtl } from "./Preview.ts"
import { enterPreview } from "./PreviewCaller.ts"
import { makePreviewDeploy, type PreviewDeployError } from "./PreviewDeploy.ts"
import { makePreviewEnd } from "./PreviewEnd.ts"
import { PreviewStore } from "./PreviewStore.ts"

/** A preview with its URL. */
export interface PreviewStatus extends Preview {
  /** Base URL of its webhooks, without a trailing slash; a path if the host has no public URL. */
  readonly url: string
}

type ReadError = Forbidden | NotFound | StoreUnavailable

export class Previews extends Context.Service<
  Previews,
  {
    /**
     * Deploys a build of the project to the preview of that name, and creates the preview if necessary. It expires after
     * `ttl` from now. Requires `build: execute` on the project, as the other changes do.
     */
    readonly deploy: (
      project: string,
      name: string,
      input: NewPreview
    ) => Effect.Effect<PreviewStatus, PreviewDeployError, Caller>
    /** Lists the previews of a project, newest first. Requires `build: read`. */
    readonly list: (project: string, page: PageRequest) => Effect.Effect<Page<PreviewStatus>, ReadError, Caller>
    readonly get: (project: string, name: string) => Effect.Effect<PreviewStatus, ReadError, Caller>
    /** Lets the preview expire after `ttl` from now. */
    readonly extend: (
      project: string,
      name: string,
      ttl: string | number
    ) => Effect.Effect<PreviewStatus, ReadError | BadRequest, Caller>
    /**
     * Removes the preview: its triggers stop, its running runs end as `cancelled`, and its deliveries are discarded. Its
     * rows and files are deleted later.
     */
    readonly remove: (project: string, name: string) => Effect.Effect<void, ReadError, Caller>
    /**
     * Returns the caller within a preview of its environment. Services then act on the preview, with the permissions of the
     * caller. `BadRequest` if there is no such preview.
     */
    readonly enter: (caller: Identity, name: string) => Effect.Effect<Identity, BadRequest | StoreUnavailable>
  }
>()("@weft/core/resources/previews/Previews") {
  static readonly layer = Layer.effect(
    Previews,
    Effect.gen(function* () {
      const store = yield* PreviewStore
      const projects = yield* ProjectStore
      const plans = yield* Plans
      const tenants = yield* Tenants
      const publicUrl = yield* PublicUrl
      const deploy = yield* makePreviewDeploy
      const { end } = yield* makePreviewEnd

      /** Returns a function that adds the URL to previews of the environment. */
      const withUrl = (envId: Identity["env_id"]) =>
        Effect.map(Effect.catchTag(plans.of(envId), "NotFound", Effect.die), ({ org, env }) => {
          const base = `${publicUrl() ?? ""}/webhook/${org.slug}`
          return (preview: Preview): PreviewStatus => ({
            ...preview,
            url: `${base}/${previewEnvName(env.name, preview.name)}`
          })
        })

      const toStatus = (preview: Preview) => Effect.map(withUrl(preview.parent_env_id), (addUrl) => addUrl(preview))

      const find = Effect.fnUntraced(function* <E = never>(
        idOrName: string,
        name: string,
        action: Action,
        shape: Effect.Effect<unknown, E> = Effect.void
      ) {
        const { project } = yield* resolveProject(projects, idOrName, "build", action, shape)
        const preview = yield* store.get(project.env_id, name)
        return preview.project_id === project.project_id ? preview : yield* noSuchPreview
      })

      const readTtlOrFail = (ttl: string | number) =>
        Result.match(readTtl(ttl), {
          onSuccess: Effect.succeed,
          onFailure: (reason) => Effect.fail(new BadRequest({ reason }))
        })

      return Previews.of({
        deploy: (project, name, input) => Effect.flatMap(deploy(project, name, input), toStatus),

        list: Effect.fnUntraced(function* (idOrName, page) {
          const { project } = yield* resolveProject(projects, idOrName, "build", "read")
          const { items, total } = yield* store.list(project.env_id, project.project_id, page)
          return { items: items.map(yield* withUrl(project.env_id)), total }
        }),

        get: (project, name) => Effect.flatMap(find(project, name, "read"), toStatus),

        extend: Effect.fnUntraced(function* (project, name, ttl) {
          const preview = yield* find(project, name, "execute", readTtlOrFail(ttl))
          const at = yield* now
          const extended = { ...preview, updated_at: at, expires_at: addMillis(at, yield* readTtlOrFail(ttl)) }
          yield* store.update(extended)
          return yield* toStatus(extended)
        }),

        remove: (project, name) => Effect.flatMap(find(project, name, "execute"), end),

        enter: Effect.fnUntraced(function* (caller, name) {
          const noPreview = new BadRequest({
            reason: `preview: the environment has no preview ${JSON.stringify(name.slice(0, 64))}`
          })
          const parent = yield* Effect.catchTag(plans.of(caller.env_id), "NotFound", () => Effect.fail(noPreview))
          const found = tenants.resolve(parent.org.slug, previewEnvName(parent.env.name, name))
          const env = yield* Effect.catchTag(found, "NotFound", () => Effect.fail(noPreview))
          return enterPreview(caller, env) ?? (yield* noPreview)
        })
      })
    })
  )
}

const noSuchPreview = new NotFound({ resource: "preview" })
