const NAME = /^# (?:HELP|TYPE) (\S+)/;

/**
 * The metrics of several processes as one text in the format of Prometheus: the samples of a metric follow each other, with the label
 * `process`. In: the text of each process, by the number of the process.
 */
export function mergeMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, { readonly about: Set<string>; readonly samples: string[] }>();
  for (const [process, text] of texts) {
    let family = { about: new Set<string>(), samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = NAME.exec(line)?.[1];
      if (name !== undefined) {
        family = families.get(name) ?? { about: new Set(), samples: [] };
        families.set(name, family);
        family.about.add(line);
        continue;
      }
      if (line === '' || line.startsWith('#')) continue;
      family.samples.push(labelled(line, `process="${process}"`));
    }
  }
  return [...families.values()]
    .map(({ about, samples }) => `${[...about, ...samples].join('\n')}\n`)
    .join('\n');
}

/** A sample, `name{label="value"} 1` or `name 1`, with a label before its own. */
function labelled(sample: string, label: string): string {
  // a value of a label may contain spaces and braces
  const space = sample.lastIndexOf(' ');
  const brace = sample.indexOf('{');
  const name = sample.slice(0, brace === -1 ? space : brace);
  const labels = brace === -1 ? '' : sample.slice(brace + 1, space - 1);
  return `${name}{${labels === '' ? label : `${label},${labels}`}}${sample.slice(space)}`;
}
