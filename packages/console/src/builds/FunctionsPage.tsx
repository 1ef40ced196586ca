/** The functions of active builds, with their triggers. */
import { A } from "@solidjs/router"
import type { Project } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { t } from "../text/Language.ts"
import { Declared } from "./Declared.tsx"
import { compareEntries } from "./Entries.ts"
import { useProjectBuilds, useProjects } from "./useBuilds.ts"
import "./builds.css"

export default function FunctionsPage(): JSX.Element {
  const projects = useProjects()
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().functions.title}</h1>
      </div>
      <Show when={projects.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void projects.refetch()} />}
      </Show>
      <Show when={projects.data}>
        {(data) => (
          <For each={data()} fallback={<Empty title={t().functions.emptyTitle} text={t().functions.empty} />}>
            {(project) => <ProjectCard project={project} />}
          </For>
        )}
      </Show>
    </div>
  )
}

const ProjectCard = (props: { readonly project: Project }): JSX.Element => {
  const name = () => props.project.name
  const builds = useProjectBuilds(() => props.project.project_id)
  return (
    <section class="card" aria-label={name()}>
      <div class="card-head">
        <h2>
          <A href={`/projects/${props.project.project_id}`}>{name()}</A>
        </h2>
      </div>
      <Show when={builds.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={builds.data}>
        {(data) => (
          <Show when={data().active} fallback={<p class="card-body muted">{t().functions.notDeployed}</p>}>
            {(manifest) => (
              <Declared
                entries={compareEntries(null, { manifest: manifest(), capabilities: null })}
                isCompared={false}
              />
            )}
          </Show>
        )}
      </Show>
    </section>
  )
}
