/** All projects, and a form that creates one. */
import { A, useNavigate } from "@solidjs/router"
import { useQueryClient } from "@tanstack/solid-query"
import type { Project } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { Instant } from "../design/Instant.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { t } from "../text/Language.ts"
import { editorPath, useProjectBuilds, useProjects } from "./useBuilds.ts"
import "./builds.css"

export default function ProjectsPage(): JSX.Element {
  const client = useQueryClient()
  const navigate = useNavigate()
  const projects = useProjects()
  const [isCreating, setCreating] = createSignal(false)
  const [name, setName] = createSignal("")
  const create = async () => {
    const project = await weft.projects.create({ name: name() })
    await client.invalidateQueries({ queryKey: ["projects"] })
    navigate(`/projects/${project.project_id}`)
  }
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().builds.title}</h1>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            <Icon name="plus" />
            {t().builds.newProject}
          </button>
        </div>
      </div>
      <Show when={projects.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void projects.refetch()} />}
      </Show>
      <Show when={projects.data}>{(data) => <ProjectTable projects={data()} />}</Show>
      <Confirm
        isOpen={isCreating()}
        onClose={() => setCreating(false)}
        title={t().builds.newProject}
        action={t().builds.newProject}
        command={`weft init ${shellWord(name() || "shop")}`}
        onConfirm={create}
      >
        <label class="field">
          <span>{t().builds.projectName}</span>
          <input
            class="input mono"
            required
            placeholder="shop"
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
      </Confirm>
    </div>
  )
}

const ProjectTable = (props: { readonly projects: ReadonlyArray<Project> }): JSX.Element => (
  <Show
    when={props.projects.length > 0}
    fallback={
      <div class="card">
        <Empty title={t().functions.emptyTitle} text={t().builds.noProjects} />
      </div>
    }
  >
    <div class="card table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t().run.project}</th>
            <th scope="col" class="wide-only">
              {t().functions.deployed}
            </th>
            <th scope="col">{t().functions.created}</th>
            <th scope="col">
              <span class="visually-hidden">{t().builds.edit}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.projects}>{(project) => <ProjectRow project={project} />}</For>
        </tbody>
      </table>
    </div>
  </Show>
)

const ProjectRow = (props: { readonly project: Project }): JSX.Element => {
  const builds = useProjectBuilds(() => props.project.project_id)
  return (
    <tr>
      <td>
        <A href={`/projects/${props.project.project_id}`}>{props.project.name}</A>{" "}
        <Show when={builds.data?.active?.build_id !== builds.data?.deployed?.build_id}>
          <span class="badge running">{t().functions.live}</span>
        </Show>
      </td>
      <td class="wide-only mono muted">{builds.data?.deployed?.build_id ?? t().builds.noBuild}</td>
      <td class="muted">
        <Show when={builds.data?.deployed} fallback="–">
          {(build) => <Instant at={build().created_at} />}
        </Show>
      </td>
      <td class="end">
        <A class="button" href={editorPath(props.project.name)}>
          {t().builds.edit}
        </A>
      </td>
    </tr>
  )
}
