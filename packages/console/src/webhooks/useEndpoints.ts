/** The endpoints of all active builds. */
import { useQuery } from "@tanstack/solid-query"
import type { BuildManifest } from "@weft/client"
import { weft } from "../api/client.ts"
import { readProjectBuilds } from "../builds/useBuilds.ts"

export interface Endpoint {
  readonly project: string
  /** `METHOD /service/path`, which is unique in the environment. */
  readonly name: string
  readonly method: BuildManifest["endpoints"][number]["method"]
  /** Path behind the address of the environment's webhooks. */
  readonly path: string
  readonly fn: string
  readonly description: string
  readonly needsCredential: boolean
}

/** Projects whose endpoints are listed. */
const projectsMax = 50

const listEndpoints = async (): Promise<ReadonlyArray<Endpoint>> => {
  const { items } = await weft.projects.list({ limit: projectsMax })
  const lists = await Promise.all(
    items.map(async ({ name }) => {
      const { active } = await readProjectBuilds(name)
      return (active?.endpoints ?? []).map((endpoint): Endpoint => {
        const path = `/${endpoint.service}${endpoint.path}`
        return {
          project: name,
          name: `${endpoint.method} ${path}`,
          method: endpoint.method,
          path,
          fn: `${endpoint.ns}/${endpoint.var}`,
          description: endpoint.description,
          needsCredential: endpoint.auth === "required"
        }
      })
    })
  )
  return lists.flat()
}

export const useEndpoints = () => useQuery(() => ({ queryKey: ["builds", "endpoints"], queryFn: listEndpoints }))
