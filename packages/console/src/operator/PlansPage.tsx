/** The plans of the server, with their limits side by side. */
import { useQuery } from "@tanstack/solid-query"
import type { Plan } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { ErrorNotice } from "../design/Feedback.tsx"
import { formatBytes, formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { admin, isOperator } from "./Operator.ts"
import { OperatorFrame } from "./OperatorFrame.tsx"

type Limit = keyof Plan["limits"]

export default function PlansPage(): JSX.Element {
  const plans = useQuery(() => ({
    queryKey: ["operator", "plans"],
    queryFn: async () => (await admin.listPlans({ limit: 100 })).items,
    enabled: isOperator()
  }))
  return (
    <OperatorFrame title={t().operator.pages.plans}>
      <p class="muted">{t().operator.plansIntro}</p>
      <Show when={plans.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={plans.data}>
        {(data) => (
          <div class="card">
            <section class="table-wrap" tabindex="0" aria-label={t().operator.pages.plans}>
              <table class="table">
                <thead>
                  <tr>
                    <th scope="col">{t().operator.limit}</th>
                    <For each={data()}>{({ name }) => <th scope="col">{name}</th>}</For>
                  </tr>
                </thead>
                <tbody>
                  <For each={limitsOf(data())}>
                    {(limit) => (
                      <tr>
                        <th scope="row">{t().operator.limits[limit]}</th>
                        <For each={data()}>
                          {({ limits }) => <td class="number">{formatLimit(limit, limits[limit])}</td>}
                        </For>
                      </tr>
                    )}
                  </For>
                </tbody>
              </table>
            </section>
          </div>
        )}
      </Show>
    </OperatorFrame>
  )
}

const isLimit = (name: string): name is Limit => Object.hasOwn(t().operator.limits, name)

const limitsOf = (plans: ReadonlyArray<Plan>): ReadonlyArray<Limit> =>
  Object.keys(plans[0]?.limits ?? {}).filter(isLimit)

const formatLimit = (limit: Limit, value: number): string => {
  if (value < 0) return "∞"
  return limit.includes("bytes") ? formatBytes(value) : formatCount(value)
}
