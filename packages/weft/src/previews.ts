/** Previews of projects for hosts: the settings and the record. */
import type { PreviewStatus, WeftEnv } from "@weft/core"
import { toPage } from "./convert.ts"
import { rejecting } from "./errors.ts"
import { toPageRequest } from "./inputs.ts"
import type { Page, PageOptions } from "./records.ts"

export interface PreviewOptions {
  /** Build of the project to copy. */
  readonly buildId: string
  /** Time from now until the removal: `7d` by default, at most 90 days, or a number of milliseconds. */
  readonly ttl?: string | number
  /** True if the schedules of the build fire; false by default. */
  readonly schedules?: boolean
  /** True if events of the environment that no function published also reach the preview, as copies; false by default. */
  readonly copyEvents?: boolean
  /** With `project` (the default), functions also read the secrets of the project; with `own`, only those of the preview. */
  readonly secrets?: "project" | "own"
}

export interface Preview {
  readonly name: string
  readonly projectId: string
  /** Environment of the preview, for `weft.env(id)`. */
  readonly envId: string
  /** Build of the project that was copied. The copy has the same hash and another id. */
  readonly buildId: string
  /** Base URL of its webhooks; a path if the host has no public URL. */
  readonly url: string
  readonly schedules: boolean
  readonly copyEvents: boolean
  readonly secrets: "project" | "own"
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly expiresAt: Date
}

export interface ProjectPreviews {
  /** Deploys a build to the preview of this name, and creates the preview if it does not exist. */
  readonly deploy: (project: string, name: string, options: PreviewOptions) => Promise<Preview>
  readonly list: (project: string, page?: PageOptions) => Promise<Page<Preview>>
  readonly get: (project: string, name: string) => Promise<Preview>
  /** Changes the time until the removal, from now. */
  readonly extend: (project: string, name: string, ttl: string | number) => Promise<Preview>
  readonly remove: (project: string, name: string) => Promise<void>
}

export const toPreviews = ({ previews }: WeftEnv): ProjectPreviews => ({
  deploy: (project, name, { buildId, copyEvents, ...options }) =>
    rejecting(async () => {
      const copied = copyEvents === undefined ? {} : { copy_events: copyEvents }
      return toPreview(await previews.deploy(project, name, { build_id: buildId, ...copied, ...options }))
    }),
  list: (project, page) => rejecting(async () => toPage(toPreview)(await previews.list(project, toPageRequest(page)))),
  get: (project, name) => rejecting(async () => toPreview(await previews.get(project, name))),
  extend: (project, name, ttl) => rejecting(async () => toPreview(await previews.extend(project, name, ttl))),
  remove: (project, name) => rejecting(() => previews.remove(project, name))
})

const toPreview = ({ name, url, schedules, secrets, ...row }: PreviewStatus): Preview => ({
  ...{ name, url, schedules, secrets },
  copyEvents: row.copy_events,
  projectId: row.project_id,
  envId: row.env_id,
  buildId: row.build_id,
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
  expiresAt: new Date(row.expires_at)
})
