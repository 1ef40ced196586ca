/** Projects with their builds, and the event handlers of the deployed ones. */

import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Build, Project } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { showToast } from "../design/Toasts.tsx"
import { formatBytes } from "../text/format.ts"
import { t } from "../text/Language.ts"

export default function FunctionsPage(): JSX.Element {
  const projects = useQuery(() => ({
    queryKey: ["projects"],
    queryFn: async () => (await weft.projects.list({ limit: 100 })).items
  }))
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
            {(project) => <ProjectCards project={project} />}
          </For>
        )}
      </Show>
    </div>
  )
}

/** Newest builds that a project shows. */
const buildsMax = 20

const ProjectCards = (props: { readonly project: Project }): JSX.Element => {
  const id = () => props.project.project_id
  const builds = useQuery(() => ({
    queryKey: ["builds", id()],
    queryFn: async () => (await weft.builds.list(id(), { limit: buildsMax })).items
  }))
  const isDeployed = () => builds.data?.some(({ active }) => active) === true
  return (
    <section class="card" aria-label={props.project.name}>
      <div class="card-head">
        <h2>{props.project.name}</h2>
      </div>
      <Show when={builds.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={isDeployed()} fallback={<p class="card-body muted">{t().functions.notDeployed}</p>}>
        <Handlers projectId={id()} />
      </Show>
      <Show when={(builds.data?.length ?? 0) > 0}>
        <Builds project={props.project} builds={builds.data ?? []} />
      </Show>
    </section>
  )
}

const Handlers = (props: { readonly projectId: string }): JSX.Element => {
  const handlers = useQuery(() => ({
    queryKey: ["handlers", props.projectId],
    queryFn: async () => (await weft.triggers.eventHandlers(props.projectId, { limit: 100 })).items
  }))
  return (
    <div class="table-wrap">
      <h3 class="sub-head">{t().functions.handlers}</h3>
      <table class="table halves">
        <thead>
          <tr>
            <th scope="col">{t().overview.function}</th>
            <th scope="col">{t().events.type}</th>
          </tr>
        </thead>
        <tbody>
          <For
            each={handlers.data}
            fallback={
              <tr>
                <td colspan="2" class="muted">
                  {t().functions.noHandlers}
                </td>
              </tr>
            }
          >
            {(handler) => (
              <tr>
                <td class="mono">
                  {handler.ns}/{handler.var}
                </td>
                <td class="mono muted">{handler.event_type}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  )
}

const Builds = (props: { readonly project: Project; readonly builds: ReadonlyArray<Build> }): JSX.Element => {
  const client = useQueryClient()
  const [chosen, setChosen] = createSignal<Build | null>(null)
  const deploy = async () => {
    await weft.builds.deploy(props.project.project_id, chosen()?.build_id ?? "")
    showToast(t().functions.deployedNow)
    await Promise.all([
      client.invalidateQueries({ queryKey: ["builds", props.project.project_id] }),
      client.invalidateQueries({ queryKey: ["handlers", props.project.project_id] })
    ])
  }
  return (
    <div class="table-wrap divided">
      <h3 class="sub-head">{t().functions.builds}</h3>
      <table class="table halves">
        <thead>
          <tr>
            <th scope="col">{t().functions.build}</th>
            <th scope="col">{t().functions.created}</th>
            <th scope="col" class="end">
              {t().functions.size}
            </th>
            <th scope="col">
              <span class="visually-hidden">{t().functions.deploy}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.builds}>
            {(build) => (
              <tr>
                <td>
                  <span class="mono">{build.build_id}</span>{" "}
                  <Show when={build.deployed}>
                    <span class="badge succeeded">{t().functions.deployed}</span>
                  </Show>
                  <Show when={build.build_type === "live" && build.active}>
                    <span class="badge running">{t().functions.live}</span>
                  </Show>
                </td>
                <td class="muted">
                  <Instant at={build.created_at} />
                </td>
                <td class="end number">{formatBytes(build.size)}</td>
                <td class="end">
                  <Show when={!build.deployed && build.build_type === "bundle"}>
                    <button type="button" class="button" onClick={() => setChosen(build)}>
                      {t().functions.deploy}
                    </button>
                  </Show>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
      <Confirm
        isOpen={chosen() !== null}
        onClose={() => setChosen(null)}
        title={t().functions.deployTitle}
        text={t().functions.deployText}
        action={t().functions.deploy}
        onConfirm={deploy}
      />
    </div>
  )
}
