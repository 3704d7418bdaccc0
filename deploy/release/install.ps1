# Installs scorel @VERSION@ for Windows: downloads the program, checks the checksum and, where
# minisign is installed, the signature, and puts it into one folder, which it adds to the PATH
# of the user.
#
#   SCOREL_INSTALL_DIR        the folder (default: %LOCALAPPDATA%\Programs\scorel)
#   SCOREL_RELEASE_URL        where the files of this release are, for a mirror
#   SCOREL_REQUIRE_SIGNATURE  if set, fail where minisign is not installed
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # it makes downloads slow

$version = '@VERSION@'
$key = '@KEY@'
$url = if ($env:SCOREL_RELEASE_URL) { $env:SCOREL_RELEASE_URL } else { '@URL@' }
$folder = if ($env:SCOREL_INSTALL_DIR) { $env:SCOREL_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\scorel' }

if (-not $url.StartsWith('https://')) { throw 'scorel: SCOREL_RELEASE_URL must begin with https://' }
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$arch = switch ($env:PROCESSOR_ARCHITECTURE) {
    'AMD64' { 'amd64' }
    'ARM64' { 'arm64' }
    default { throw "scorel: there is no program for $env:PROCESSOR_ARCHITECTURE" }
}
$archive = "scorel_${version}_windows_${arch}.zip"
$work = New-Item -ItemType Directory -Path (Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid()))
try {
    foreach ($file in 'SHA256SUMS', 'SHA256SUMS.minisig', $archive) {
        Invoke-WebRequest -UseBasicParsing -Uri "$url/$file" -OutFile (Join-Path $work $file)
    }
    $sums = Join-Path $work 'SHA256SUMS'
    $checked = 'checksum; install minisign to check the signature too'
    if (Get-Command minisign -ErrorAction SilentlyContinue) {
        & minisign -Vqm $sums -P $key
        if ($LASTEXITCODE -ne 0) { throw 'scorel: the signature of this release is not valid: nothing was installed' }
        $checked = 'signature and checksum'
    } elseif ($env:SCOREL_REQUIRE_SIGNATURE) {
        throw 'scorel: the signature cannot be checked: install minisign'
    }
    $line = Get-Content $sums | Where-Object { ($_ -split '\s+')[1] -eq $archive }
    if (-not $line) { throw "scorel: this release has no $archive" }
    $actual = (Get-FileHash -Algorithm SHA256 (Join-Path $work $archive)).Hash.ToLower()
    if ($actual -ne ($line -split '\s+')[0]) { throw "scorel: the checksum of $archive is wrong: nothing was installed" }

    Expand-Archive -Path (Join-Path $work $archive) -DestinationPath (Join-Path $work 'files')
    New-Item -ItemType Directory -Force -Path $folder | Out-Null
    $target = Join-Path $folder 'scorel.exe'
    $old = "$target.old"
    # A running program can be renamed, but neither overwritten nor removed. `scorel update` removes
    # the one that is set aside here.
    if (Test-Path $old) {
        try { Remove-Item -Force $old }
        catch { Move-Item $old (Join-Path $folder ".scorel-$([Guid]::NewGuid().ToString('N')).exe") }
    }
    $replaced = Test-Path $target
    if ($replaced) { Move-Item $target $old }
    try { Move-Item (Join-Path $work 'files\scorel.exe') $target }
    catch {
        if ($replaced) { Move-Item $old $target } # so that there is a program
        throw
    }

    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (($path -split ';') -notcontains $folder) {
        [Environment]::SetEnvironmentVariable('Path', "$path;$folder", 'User')
    }
    Write-Output "scorel $version is installed in $folder (checked: $checked)."
    if ($replaced) { Write-Output 'A host that runs keeps the earlier version: end it with scorel host stop, and start it as before.' }
    Write-Output 'Open a new terminal and start it with: scorel up'
} finally {
    Remove-Item -Recurse -Force $work
}
