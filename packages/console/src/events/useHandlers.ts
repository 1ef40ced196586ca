/** Event handlers of the active builds of all projects. */
import { useQuery } from "@tanstack/solid-query"
import type { EventHandler } from "@weft/client"
import { weft } from "../api/client.ts"

/** Projects whose handlers are listed. */
const projectsMax = 50

export interface ActiveHandler extends EventHandler {
  readonly project: string
}

const listHandlers = async (): Promise<ReadonlyArray<ActiveHandler>> => {
  const { items } = await weft.projects.list({ limit: projectsMax })
  const lists = await Promise.all(
    items.map(async ({ project_id, name: project }) => {
      const handlers = await weft.triggers.eventHandlers(project_id, { limit: 100 })
      return handlers.items.map((handler): ActiveHandler => ({ ...handler, project }))
    })
  )
  return lists.flat()
}

export const useHandlers = (isEnabled: () => boolean = () => true) =>
  useQuery(() => ({ queryKey: ["handlers"], queryFn: listHandlers, enabled: isEnabled() }))

/** True if a handler of this type, which may end with `*`, handles events of the other type. */
export const handles = (handlerType: string, eventType: string): boolean =>
  handlerType.endsWith("*") ? eventType.startsWith(handlerType.slice(0, -1)) : handlerType === eventType
