/** Previews of projects, for the host. */
import type { Effect } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { NewPreview } from "../resources/previews/Preview.ts"
import { type PreviewStatus, Previews } from "../resources/previews/Previews.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostPreviews {
  readonly deploy: (project: string, name: string, input: NewPreview) => Promise<PreviewStatus>
  readonly list: (project: string, page?: PageRequest) => Promise<Page<PreviewStatus>>
  readonly get: (project: string, name: string) => Promise<PreviewStatus>
  readonly extend: (project: string, name: string, ttl: string | number) => Promise<PreviewStatus>
  readonly remove: (project: string, name: string) => Promise<void>
}

export const hostPreviews = (
  run: <A, E>(effect: Effect.Effect<A, E, Previews | Caller>) => Promise<A>
): HostPreviews => ({
  deploy: (project, name, input) => run(Previews.use((previews) => previews.deploy(project, name, input))),
  list: (project, page = firstPage) => run(Previews.use((previews) => previews.list(project, page))),
  get: (project, name) => run(Previews.use((previews) => previews.get(project, name))),
  extend: (project, name, ttl) => run(Previews.use((previews) => previews.extend(project, name, ttl))),
  remove: (project, name) => run(Previews.use((previews) => previews.remove(project, name)))
})
