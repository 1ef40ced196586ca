/** The files of `deploy`, read as the programs that use them read them. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { parse, parseAllDocuments } from "yaml"

export const readDeployFile = (name: string): string =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8")

const Compose = Schema.Struct({
  services: Schema.Struct({
    weft: Schema.Struct({
      stop_grace_period: Schema.String,
      environment: Schema.Record(Schema.String, Schema.String)
    })
  })
})

export const readCompose = () => Schema.decodeUnknownSync(Compose)(parse(readDeployFile("compose.yaml")))

const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String, port: Schema.String }) })

const ConfigMap = Schema.Struct({
  kind: Schema.Literal("ConfigMap"),
  data: Schema.Record(Schema.String, Schema.String)
})

const Deployment = Schema.Struct({
  kind: Schema.Literal("Deployment"),
  spec: Schema.Struct({
    template: Schema.Struct({
      spec: Schema.Struct({
        terminationGracePeriodSeconds: Schema.Int,
        containers: Schema.NonEmptyArray(
          Schema.Struct({
            ports: Schema.NonEmptyArray(Schema.Struct({ name: Schema.String, containerPort: Schema.Int })),
            startupProbe: Probe,
            livenessProbe: Probe,
            readinessProbe: Probe
          })
        )
      })
    })
  })
})

/** Returns the variables of the config map, and the deployment's pod. */
export const readKubernetes = () => {
  const objects: ReadonlyArray<unknown> = parseAllDocuments(readDeployFile("kubernetes.yaml")).map((each) => {
    if (each.errors.length > 0) throw each.errors[0]
    return each.toJS()
  })
  const variables = objects.find(Schema.is(ConfigMap))?.data
  const pod = objects.find(Schema.is(Deployment))?.spec.template.spec
  if (variables === undefined || pod === undefined) throw new Error("kubernetes.yaml lacks an object")
  return { variables, pod, container: pod.containers[0] }
}

const Alerts = Schema.Struct({
  groups: Schema.Array(
    Schema.Struct({
      rules: Schema.Array(
        Schema.Struct({
          alert: Schema.String,
          expr: Schema.String,
          labels: Schema.Struct({ severity: Schema.Literals(["critical", "warning", "info"]) }),
          annotations: Schema.Struct({ summary: Schema.String, description: Schema.String })
        })
      )
    })
  )
})

const Dashboard = Schema.Struct({
  panels: Schema.Array(
    Schema.Struct({ title: Schema.String, targets: Schema.Array(Schema.Struct({ expr: Schema.String })) })
  )
})

/** Returns the expressions of the alerts and of the dashboard, each with the name of its alert or panel. */
export const readExpressions = (): ReadonlyArray<readonly [name: string, expression: string]> => {
  const { groups } = Schema.decodeUnknownSync(Alerts)(parse(readDeployFile("prometheus-alerts.yaml")))
  const { panels } = Schema.decodeUnknownSync(Dashboard)(JSON.parse(readDeployFile("grafana-dashboard.json")))
  return [
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))
  ]
}

/** Returns the alert conditions in the table of metrics of `docs/operating.md`, each with its series. */
export const readDocumentedExpressions = (): ReadonlyArray<readonly [series: string, expression: string]> => {
  const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8")
  const [, table = ""] = /<!-- metrics -->([\s\S]*?)<!-- \/metrics -->/.exec(page) ?? []
  return table.split("\n").flatMap((line) => {
    const [, series = "", , , condition = ""] = line.split("|")
    return [...condition.matchAll(/`([^`]*[(<>=][^`]*)`/g)].map(([, text = ""]) => [series.trim(), text] as const)
  })
}
