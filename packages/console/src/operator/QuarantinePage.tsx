/** Builds that nodes do not run, because they repeatedly ended their runner process. */
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { AuditEntry } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { apiOrigin } from "../api/consoleUrl.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { showToast } from "../design/Toasts.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { admin, isOperator } from "./Operator.ts"
import { OperatorFrame } from "./OperatorFrame.tsx"
import { readQuarantines } from "./quarantines.ts"

export default function QuarantinePage(): JSX.Element {
  const client = useQueryClient()
  const [chosen, setChosen] = createSignal<AuditEntry | null>(null)
  const builds = useQuery(() => ({
    queryKey: ["operator", "quarantines"],
    queryFn: readQuarantines,
    enabled: isOperator()
  }))
  const release = async () => {
    const { env_id, object_id } = chosen() ?? {}
    if (env_id == null || object_id == null) return
    await admin.releaseBuild(env_id, object_id)
    showToast(t().operator.released)
    await client.invalidateQueries({ queryKey: ["operator", "quarantines"] })
  }
  return (
    <OperatorFrame title={t().operator.pages.quarantine}>
      <p class="muted">{t().operator.quarantineIntro}</p>
      <Show when={builds.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={builds.data}>
        {(data) => (
          <section class="card" aria-label={t().operator.pages.quarantine}>
            <Show
              when={data().length > 0}
              fallback={<Empty title={t().operator.noQuarantineTitle} text={t().operator.noQuarantine} />}
            >
              <div class="table-wrap">
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">{t().run.build}</th>
                      <th scope="col">{t().operator.reason}</th>
                      <th scope="col" class="wide-only">
                        {t().events.time}
                      </th>
                      <th scope="col">
                        <span class="visually-hidden">{t().files.actions}</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={data()}>
                      {({ entry, isOpen }) => (
                        <tr>
                          <td class="mono">{entry.object_id}</td>
                          <td>{reasonOf(entry)}</td>
                          <td class="muted wide-only">{formatInstant(entry.created_at)}</td>
                          <td class="end">
                            <Show when={isOpen} fallback={<span class="muted">{t().operator.lifted}</span>}>
                              <button type="button" class="button" onClick={() => setChosen(entry)}>
                                {t().operator.release}
                              </button>
                            </Show>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </div>
            </Show>
          </section>
        )}
      </Show>
      <Confirm
        isOpen={chosen() !== null}
        onClose={() => setChosen(null)}
        title={t().operator.releaseTitle}
        text={t().operator.releaseText}
        action={t().operator.release}
        command={`curl -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${apiOrigin}/admin/envs/${chosen()?.env_id}/builds/${chosen()?.object_id}/release`}
        onConfirm={release}
      />
    </OperatorFrame>
  )
}

const reasonOf = ({ details }: AuditEntry): string =>
  details !== null && typeof details === "object" && "reason" in details ? String(details.reason) : ""
