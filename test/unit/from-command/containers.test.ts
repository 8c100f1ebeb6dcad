import { describe, expect, it } from "vitest";
import { converted, type Inputs } from "../../support/converted";

const model = { repo: "a/b" };

describe("containers", () => {
  const image = "vllm/vllm-openai:v0.32.0";
  const pinned = { vllm: { version: "0.32.0" } };
  it.each<[string, string, Inputs, readonly string[]]>([
    [
      "a mount written out",
      `docker run --mount type=bind,src=/srv,dst=/m,readonly ${image} --model /m/x`,
      { model: { path: "/srv/x" }, engine: { servedModelName: ["/m/x"] }, ...pinned },
      ["mount model.path", "served-name engine.servedModelName"],
    ],
    [
      "the mount with the longest target",
      `docker run -v /a:/m -v /b:/m/x/ ${image} /m/x/y --served-model-name y`,
      { model: { path: "/b/y" }, engine: { servedModelName: ["y"] }, ...pinned },
      ["mount model.path"],
    ],
    [
      "a cache above the hub's",
      `docker run -v /data/cache:/root/.cache ${image} a/b`,
      { model, environment: { HF_HOME: "/data/cache/huggingface" }, ...pinned },
      ["mount environment.HF_HOME"],
    ],
    [
      "variables of the shell around it",
      `export HF_TOKEN=hf_EXAMPLETOKEN X=1 Y=2; docker run -e HF_TOKEN -e X ${image} a/b`,
      { model: { repo: "a/b", token: "<secret>" }, environment: { X: "1" }, ...pinned },
      ["secret-in-text HF_TOKEN"],
    ],
    [
      "GPUs of GPUs",
      `docker run --gpus '"device=4,5,6"' -e CUDA_VISIBLE_DEVICES=0,2 -e CUDA_DEVICE_ORDER=PCI_BUS_ID ${image} a/b`,
      { model, gpus: [4, 6], ...pinned },
      [],
    ],
    [
      "GPUs by NVIDIA's runtime",
      `docker run --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=1,3 ${image} a/b`,
      { model, gpus: [1, 3], ...pinned },
      ["container-only docker"],
    ],
    [
      "GPUs of GPUs by NVIDIA's runtime",
      `docker run -e NVIDIA_VISIBLE_DEVICES=GPU-5ca1ab1e-0000-4000-8000-000000000001,GPU-5ca1ab1e-0000-4000-8000-000000000002 -e CUDA_VISIBLE_DEVICES=1 -e CUDA_DEVICE_ORDER=PCI_BUS_ID ${image} a/b`,
      { model, gpus: ["GPU-5ca1ab1e-0000-4000-8000-000000000002"], ...pinned },
      [],
    ],
    [
      "all GPUs by NVIDIA's runtime",
      `docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all ${image} a/b`,
      { model, ...pinned },
      ["container-only docker"],
    ],
    [
      "GPUs by NVIDIA's runtime that only the shell knows",
      `docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=$MINE ${image} a/b`,
      { model, ...pinned },
      ["container-only docker", "needs-value gpus"],
    ],
    [
      "--gpus, which counts more than a variable for NVIDIA's runtime",
      `docker run --gpus all -e NVIDIA_VISIBLE_DEVICES=1 ${image} a/b`,
      { model, ...pinned },
      [],
    ],
    [
      "the port of several that is vLLM's",
      `docker run -p 9000:9000 -p 127.0.0.1:8080:8000 ${image} a/b`,
      { model, listen: { address: "127.0.0.1", port: 8080 }, ...pinned },
      [],
    ],
    [
      "the host's network",
      `docker run --net=host ${image} a/b --host 127.0.0.1 --port 8080`,
      { model, listen: { address: "127.0.0.1", port: 8080 }, ...pinned },
      [],
    ],
    [
      "an image under another name, with a digest",
      "docker run registry.example.com/team/llm@sha256:abc a/b --max-num-seqs 2 --max-model-len 3",
      { model, engine: { maxNumSeqs: 2, maxModelLen: 3 } },
      ["image-tag vllm.version"],
    ],
    [
      "a folder that no mount holds",
      `docker run ${image} /baked/x --served-model-name x`,
      { model: { path: "/baked/x" }, engine: { servedModelName: ["x"] }, ...pinned },
      ["unmapped-path model.path"],
    ],
  ])("%s", async (_, text, inputs, notes) => {
    expect(await converted(text)).toEqual({ inputs, notes });
  });
});

describe("units and compose files", () => {
  it("read words and variables as systemd does", async () => {
    const unit = [
      "[Service]",
      "# ExecStart=/old/vllm serve c/d",
      'Environment="A=x y" B=2',
      "Environment=ARGS='--seed 1'",
      "ExecStart=-/opt/v/bin/vllm serve %h/m/${B} \\",
      "  # a comment among them",
      "  --served-model-name \"the $A\" 50%% $ARGS --chat-template '/t/$$x'",
    ].join("\n");
    expect(await converted(unit)).toEqual({
      inputs: {
        model: { path: "~/m/2" },
        engine: { servedModelName: ["the x y", "50%"], chatTemplate: "/t/$x" },
        extraArgs: { seed: 1 },
        environment: { A: "x y", B: "2", ARGS: "--seed 1" },
        vllm: { executable: "/opt/v/bin/vllm" },
      },
      notes: [],
    });
  });

  it("read long forms, defaults and merged parts as compose does", async () => {
    const compose = [
      "x-base: &base",
      "  environment: { A: $$1, B: '${B:-2}', C: }",
      "services:",
      "  llm:",
      "    <<: *base",
      "    image: vllm/vllm-openai:${TAG:-v0.32.0}",
      "    network_mode: host",
      "    volumes: [{ type: bind, source: /srv, target: /m }]",
      "    command: ['/m/x', --served-model-name, x, --host, 127.0.0.1, --port, '${PORT:-8001}']",
    ].join("\n");
    expect(await converted(compose)).toEqual({
      inputs: {
        model: { path: "/srv/x" },
        engine: { servedModelName: ["x"] },
        environment: { A: "$1", B: "2" },
        listen: { address: "127.0.0.1", port: 8001 },
        vllm: { version: "0.32.0" },
      },
      notes: ["needs-value environment.C", "mount model.path"],
    });
  });

  it.each<[string, string, Inputs]>([
    ["by NVIDIA's runtime", "runtime: nvidia", { gpus: [2] }],
    ["by that runtime as docker's default", "restart: always", { gpus: [2] }],
    ["by a reservation of all", "gpus: [{ driver: nvidia, count: all }]", {}],
  ])("read the GPUs that a service has: %s", async (_, member, inputs) => {
    const compose = [
      "services:",
      "  llm:",
      "    image: vllm/vllm-openai:v0.32.0",
      "    environment: { NVIDIA_VISIBLE_DEVICES: '2' }",
      `    ${member}`,
      "    command: [a/b]",
    ].join("\n");
    const { inputs: read } = await converted(compose);
    expect(read).toEqual({ model, ...inputs, vllm: { version: "0.32.0" } });
  });
});
