/** One project: its builds, what each declares, and what a deployment would change. */
import { A, useNavigate, useParams, useSearchParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { t } from "../text/Language.ts"
import { BuildTable } from "./BuildTable.tsx"
import { CanaryCard } from "./CanaryCard.tsx"
import { DeclaredCard } from "./DeclaredCard.tsx"
import { editorPath, useProjectBuilds } from "./useBuilds.ts"
import "./builds.css"

export default function ProjectPage(): JSX.Element {
  const params = useParams<{ id: string }>()
  const [search, setSearch] = useSearchParams<{ build?: string; with?: string }>()
  const project = useQuery(() => ({ queryKey: ["projects", params.id], queryFn: () => weft.projects.get(params.id) }))
  const builds = useProjectBuilds(() => params.id)
  const text = (value: string | ReadonlyArray<string> | undefined): string | null =>
    typeof value === "string" ? value : null
  const chosen = () => text(search.build) ?? builds.data?.active?.build_id ?? builds.data?.builds[0]?.build_id ?? null
  /** Another build is compared with the active one by default. */
  const comparedWith = () => {
    const active = builds.data?.active?.build_id ?? null
    const other = text(search.with)
    if (other === "nothing") return null
    return other ?? (active === chosen() ? null : active)
  }
  return (
    <div class="page">
      <A class="crumb" href="/projects">
        ← {t().builds.title}
      </A>
      <div class="page-head">
        <h1>{project.data?.name}</h1>
        <div class="actions">
          <ProjectActions project={params.id} isLive={isLive(builds.data)} />
          <A class="button" href={editorPath(project.data?.name ?? "")}>
            {t().builds.edit}
          </A>
        </div>
      </div>
      <Show when={builds.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void builds.refetch()} />}
      </Show>
      <Show when={builds.data}>
        {(data) => (
          <Show
            when={data().builds.length > 0}
            fallback={
              <div class="card">
                <Empty title={t().builds.noBuild} text={t().builds.noProjects} />
              </div>
            }
          >
            <BuildTable
              project={params.id}
              builds={data()}
              chosen={chosen()}
              onChoose={(build) => setSearch({ build, with: undefined })}
            />
            <CanaryCard project={params.id} />
            <DeclaredCard
              project={params.id}
              builds={data().builds}
              buildId={chosen()}
              comparedWith={comparedWith()}
              onCompare={(build) => setSearch({ with: build ?? "nothing" })}
            />
          </Show>
        )}
      </Show>
    </div>
  )
}

type Loaded = ReturnType<typeof useProjectBuilds>["data"]

/** True if a live build replaces the deployed one. */
const isLive = (data: Loaded): boolean => data?.active?.build_id !== data?.deployed?.build_id

const ProjectActions = (props: { readonly project: string; readonly isLive: boolean }): JSX.Element => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = createSignal<"remove" | "endLive" | null>(null)
  const endLive = async () => {
    await weft.builds.endLive(props.project)
    await client.invalidateQueries({ queryKey: ["builds"] })
  }
  const remove = async () => {
    await weft.projects.remove(props.project)
    // The record of this project, which no longer exists, must not be read again.
    await client.invalidateQueries({ queryKey: ["projects"], exact: true })
    navigate("/projects")
  }
  return (
    <>
      <Show when={props.isLive}>
        <button type="button" class="button" onClick={() => setAsked("endLive")}>
          {t().builds.endLive}
        </button>
      </Show>
      <button type="button" class="button danger" onClick={() => setAsked("remove")}>
        {t().builds.remove}
      </button>
      <Confirm
        isOpen={asked() === "endLive"}
        onClose={() => setAsked(null)}
        title={t().builds.endLive}
        text={t().builds.endLiveText}
        action={t().builds.endLive}
        command={`curl -X DELETE -H "Authorization: Bearer $KEY" $API/projects/${props.project}/builds/live`}
        onConfirm={endLive}
      />
      <Confirm
        isOpen={asked() === "remove"}
        onClose={() => setAsked(null)}
        title={t().builds.removeTitle}
        text={t().builds.removeText}
        action={t().builds.remove}
        command={`curl -X DELETE -H "Authorization: Bearer $KEY" $API/projects/${props.project}`}
        isDanger
        onConfirm={remove}
      />
    </>
  )
}
