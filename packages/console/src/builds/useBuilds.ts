/** Projects, their builds, and what builds declare. */
import { useQuery } from "@tanstack/solid-query"
import type { Build, BuildManifest } from "@weft/client"
import { weft } from "../api/client.ts"
import type { DescribedBuild } from "./Entries.ts"

/** Projects and newest builds that pages list. */
const projectsMax = 100
const buildsMax = 50

/** Path of the editor with the source of a project. */
export const editorPath = (name: string): string => `/editor?project=${encodeURIComponent(name)}`

export const useProjects = () =>
  useQuery(() => ({
    queryKey: ["projects"],
    queryFn: async () => (await weft.projects.list({ limit: projectsMax })).items
  }))

const listBuilds = async (project: string): Promise<ReadonlyArray<Build>> =>
  (await weft.builds.list(project, { limit: buildsMax })).items

/** The newest builds of a project, and its active one. */
export interface ProjectBuilds {
  readonly builds: ReadonlyArray<Build>
  readonly deployed: Build | null
  /** The build that the triggers of the project run: the live one, or else the deployed one. */
  readonly active: BuildManifest | null
}

export const readProjectBuilds = async (project: string): Promise<ProjectBuilds> => {
  const builds = await listBuilds(project)
  const deployed = builds.find((build) => build.deployed) ?? null
  // Records of ended live builds look like those of active ones, but their manifests do not.
  const newestLive = builds.find(({ build_type }) => build_type === "live")
  const live = newestLive === undefined ? null : await weft.builds.manifest(project, newestLive.build_id)
  if (live?.active === true) return { builds, deployed, active: live }
  return { builds, deployed, active: deployed && (await weft.builds.manifest(project, deployed.build_id)) }
}

export const useProjectBuilds = (project: () => string) =>
  useQuery(() => ({
    queryKey: ["builds", project()],
    queryFn: () => readProjectBuilds(project()),
    enabled: project() !== ""
  }))

/** The description of a build. It never changes, but whether the build is active does. */
export const useDescribedBuild = (project: () => string, buildId: () => string | null) =>
  useQuery(() => ({
    queryKey: ["builds", project(), "described", buildId()],
    queryFn: async (): Promise<DescribedBuild> => {
      const id = buildId() ?? ""
      const [manifest, { capabilities }] = await Promise.all([
        weft.builds.manifest(project(), id),
        weft.builds.capabilities(project(), id)
      ])
      return { manifest, capabilities }
    },
    enabled: buildId() !== null
  }))
