/** The source of a project: what this page has written, or else the source of the active build. */
import { useQuery } from "@tanstack/solid-query"
import { weft } from "../api/client.ts"
import { readProjectBuilds } from "../builds/useBuilds.ts"
import { starter } from "./snippets.ts"

/** Sources that were written since the page was opened, by project. */
const drafts = new Map<string, string>()

export const keepDraft = (project: string, text: string): void => {
  drafts.set(project, text)
}

export interface Source {
  readonly text: string
  /** True if the text is that of the active build. */
  readonly isOpened: boolean
  /** False if the active build has files that the editor cannot make. */
  readonly isEditable: boolean
}

const readSourceOf = async (project: string, exists: boolean): Promise<Source> => {
  const draft = drafts.get(project)
  if (draft !== undefined) return { text: draft, isOpened: false, isEditable: true }
  const active = exists ? (await readProjectBuilds(project)).active : null
  if (active === null) return { text: starter, isOpened: false, isEditable: true }
  const response = await weft.builds.download(project, active.build_id)
  const { readSource } = await import("./compile.ts")
  const text = readSource(new Uint8Array(await response.arrayBuffer()))
  return text === null
    ? { text: starter, isOpened: false, isEditable: false }
    : { text, isOpened: true, isEditable: true }
}

export const useSource = (project: () => string, exists: () => boolean, isReady: () => boolean) =>
  useQuery(() => ({
    queryKey: ["editor", project()],
    queryFn: () => readSourceOf(project(), exists()),
    enabled: isReady(),
    // The text in the editor is newer.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0
  }))
