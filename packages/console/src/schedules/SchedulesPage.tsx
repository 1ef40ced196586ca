/** Schedules: those of deployed builds, and those that functions created. */

import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { DynamicSchedule } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { apiOrigin } from "../api/consoleUrl.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { t } from "../text/Language.ts"
import { TickCalendar } from "./TickCalendar.tsx"

export default function SchedulesPage(): JSX.Element {
  const declared = useQuery(() => ({ queryKey: ["schedules", "declared"], queryFn: listDeclared }))
  const dynamic = useQuery(() => ({
    queryKey: ["schedules", "dynamic"],
    queryFn: async () => (await weft.schedules.list({ limit: 100 })).items
  }))
  const isEmpty = () => declared.data?.length === 0 && dynamic.data?.length === 0
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().schedules.title}</h1>
      </div>
      <Show when={declared.error ?? dynamic.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={!isEmpty()} fallback={<Empty title={t().schedules.emptyTitle} text={t().schedules.empty} />}>
        <TickCalendar />
        <Show when={(declared.data?.length ?? 0) > 0}>
          <DeclaredTable schedules={declared.data ?? []} />
        </Show>
        <Show when={(dynamic.data?.length ?? 0) > 0}>
          <DynamicTable schedules={dynamic.data ?? []} />
        </Show>
      </Show>
    </div>
  )
}

interface Declared {
  readonly schedule_id: string
  readonly project: string
  readonly cron: string
  readonly name: string
}

/** Projects whose schedules are listed. */
const projectsMax = 50

const listDeclared = async (): Promise<ReadonlyArray<Declared>> => {
  const { items } = await weft.projects.list({ limit: projectsMax })
  const lists = await Promise.all(
    items.map(async ({ project_id, name }) => {
      const schedules = await weft.triggers.schedules(project_id, { limit: 100 })
      return schedules.items.map((entry) => ({
        schedule_id: entry.schedule_id,
        project: name,
        cron: entry.cron,
        name: `${entry.ns}/${entry.var}`
      }))
    })
  )
  return lists.flat()
}

const DeclaredTable = (props: { readonly schedules: ReadonlyArray<Declared> }): JSX.Element => (
  <section class="card" aria-labelledby="declared">
    <div class="card-head">
      <h2 id="declared">{t().schedules.static}</h2>
    </div>
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t().schedules.function}</th>
            <th scope="col">{t().schedules.project}</th>
            <th scope="col">{t().schedules.cron}</th>
          </tr>
        </thead>
        <tbody>
          <For each={props.schedules}>
            {(schedule) => (
              <tr>
                <td class="mono">{schedule.name}</td>
                <td>{schedule.project}</td>
                <td class="mono">{schedule.cron}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  </section>
)

const DynamicTable = (props: { readonly schedules: ReadonlyArray<DynamicSchedule> }): JSX.Element => {
  const client = useQueryClient()
  const [chosen, setChosen] = createSignal<DynamicSchedule | null>(null)
  const remove = async () => {
    await weft.schedules.remove(chosen()?.schedule_id ?? "")
    await client.invalidateQueries({ queryKey: ["schedules", "dynamic"] })
  }
  return (
    <section class="card" aria-labelledby="dynamic">
      <div class="card-head">
        <h2 id="dynamic">{t().schedules.dynamic}</h2>
      </div>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t().schedules.function}</th>
              <th scope="col">{t().schedules.cron}</th>
              <th scope="col">{t().schedules.zone}</th>
              <th scope="col">{t().schedules.next}</th>
              <th scope="col">
                <span class="visually-hidden">{t().schedules.remove}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={props.schedules}>
              {(schedule) => (
                <tr>
                  <td class="mono">
                    {schedule.ns}/{schedule.var}
                  </td>
                  <td class="mono">{schedule.cron ?? t().schedules.once}</td>
                  <td>{schedule.timezone}</td>
                  <td>
                    <Instant at={schedule.next_at} />
                  </td>
                  <td class="end">
                    <button type="button" class="button" onClick={() => setChosen(schedule)}>
                      {t().schedules.remove}
                    </button>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
      <Confirm
        isOpen={chosen() !== null}
        onClose={() => setChosen(null)}
        title={t().schedules.removeTitle}
        text={t().schedules.removeText}
        action={t().schedules.remove}
        command={`curl -X DELETE -H "Authorization: Bearer $KEY" ${apiOrigin}/v1/schedules/${chosen()?.schedule_id}`}
        isDanger
        onConfirm={remove}
      />
    </section>
  )
}
