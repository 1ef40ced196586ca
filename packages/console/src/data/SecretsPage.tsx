/** The secrets of a project: their names can be read, their values only written. */
import { useSearchParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { ContextVariable } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { useProjects } from "../builds/useBuilds.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { Instant } from "../design/Instant.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { t } from "../text/Language.ts"
import { SecretDialog } from "./SecretDialog.tsx"

export default function SecretsPage(): JSX.Element {
  const client = useQueryClient()
  const [search, setSearch] = useSearchParams<{ project?: string }>()
  const projects = useProjects()
  const project = () => (typeof search.project === "string" ? search.project : (projects.data?.[0]?.name ?? ""))
  const secrets = useQuery(() => ({
    queryKey: ["context", project()],
    queryFn: async () => (await weft.context.list(project(), { limit: 100 })).items,
    enabled: project() !== ""
  }))
  const [edited, setEdited] = createSignal<string | null>(null)
  const [removed, setRemoved] = createSignal<string | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ["context", project()] })
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().secrets.title}</h1>
        <label class="inline-field">
          <span>{t().secrets.project}</span>
          <select class="input" onChange={(event) => setSearch({ project: event.currentTarget.value })}>
            <For each={projects.data}>
              {({ name }) => (
                <option value={name} selected={name === project()}>
                  {name}
                </option>
              )}
            </For>
          </select>
        </label>
        <div class="actions">
          <button type="button" class="button primary" disabled={project() === ""} onClick={() => setEdited("")}>
            <Icon name="plus" />
            {t().secrets.set}
          </button>
        </div>
      </div>
      <Show when={projects.error ?? secrets.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={secrets.data}>
        {(data) => <SecretTable secrets={data()} onReplace={setEdited} onRemove={setRemoved} />}
      </Show>
      <SecretDialog
        project={project()}
        edited={edited()}
        known={(secrets.data ?? []).map(({ key }) => key)}
        onClose={() => setEdited(null)}
        onSaved={() => void refresh()}
      />
      <Confirm
        isOpen={removed() !== null}
        onClose={() => setRemoved(null)}
        title={`${t().secrets.removeTitle}: ${removed() ?? ""}`}
        text={t().secrets.removeText}
        action={t().secrets.remove}
        command={`weft context unset ${shellWord(removed() ?? "")} --project ${shellWord(project())}`}
        isDanger
        onConfirm={async () => {
          await weft.context.remove(project(), removed() ?? "")
          await refresh()
        }}
      />
    </div>
  )
}

const SecretTable = (props: {
  readonly secrets: ReadonlyArray<ContextVariable>
  readonly onReplace: (key: string) => void
  readonly onRemove: (key: string) => void
}): JSX.Element => (
  <div class="card table-wrap">
    <Show when={props.secrets.length > 0} fallback={<Empty title={t().secrets.emptyTitle} text={t().secrets.empty} />}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t().secrets.key}</th>
            <th scope="col" class="wide-only">
              {t().secrets.description}
            </th>
            <th scope="col" class="wide-only">
              {t().secrets.updated}
            </th>
            <th scope="col">
              <span class="visually-hidden">{t().secrets.replace}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.secrets}>
            {(secret) => (
              <tr>
                <td class="mono">{secret.key}</td>
                <td class="wide-only">{secret.description}</td>
                <td class="muted wide-only">
                  <Instant at={secret.updated_at} />
                </td>
                <td>
                  <div class="row-actions">
                    <button type="button" class="button" onClick={() => props.onReplace(secret.key)}>
                      {t().secrets.replace}
                    </button>
                    <button type="button" class="button" onClick={() => props.onRemove(secret.key)}>
                      {t().secrets.remove}
                    </button>
                  </div>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </Show>
  </div>
)
